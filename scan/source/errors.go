package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Error says what could not be opened, why, and what to do.
type Error struct {
	// Ref is the reference or input.
	Ref string
	// Op is what was tried.
	Op string
	// Err is the cause.
	Err error
	// Hint says what to do, empty if nothing comes to mind.
	Hint string
	// Usage says that the call was wrong, not the input.
	Usage bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %v", e.Ref, e.Op, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail makes an Error of a cause that is none yet.
func fail(ref, op string, err error) error {
	var e *Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	return &Error{Ref: ref, Op: op, Err: plain(err), Hint: hintOf(err)}
}

// hinted is an error that brings its own hint.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

func hintf(hint, format string, args ...any) error {
	return &hinted{fmt.Errorf(format, args...), hint}
}

func hintOf(err error) string {
	var h *hinted
	var p *fs.PathError
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.Is(err, fs.ErrPermission):
		return "make the file readable for this user"
	case errors.Is(err, fs.ErrNotExist):
		return "check the path; an image of a registry is named without --input"
	case errors.As(err, &p):
		return "check the path, and the disk below it"
	case errors.Is(err, context.DeadlineExceeded):
		return ""
	}
	return "it is damaged, or no container image: build, pull or save it again"
}

// plain drops the path of a file error: the reference names it already.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &short{err: err, text: p.Err.Error()}
	}
	return err
}

// short is an error with a shorter text.
type short struct {
	err  error
	text string
}

func (s *short) Error() string { return s.text }
func (s *short) Unwrap() error { return s.err }

// Hint says what to do about an error of this package.
func Hint(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return hintOf(err)
}

// registryError says in plain words what a registry or the way to it answered
// when it was asked for something.
func registryError(ref name.Reference, what string, keys authn.Keychain, op string, err error) error {
	host := ref.Context().RegistryStr()
	text, hint := "", ""
	var h *hinted
	var te *transport.Error
	var dns *net.DNSError
	var op2 *net.OpError
	var ca x509.UnknownAuthorityError
	var bad *tls.CertificateVerificationError
	switch {
	case errors.As(err, &h):
		text, hint = h.Error(), h.hint
	case errors.As(err, &te):
		text, hint = statusText(te, ref, what, keys)
	case errors.As(err, &dns):
		text, hint = "the host "+dns.Name+" is not known", "check the spelling of the registry, and DNS"
	case errors.As(err, &ca), errors.As(err, &bad):
		text, hint = "the TLS certificate of "+host+" is not trusted: "+last(err), caHint
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		text, hint = host+" speaks HTTP, not HTTPS", "use --plain-http"
	case errors.As(err, &op2):
		text, hint = "no connection to "+host+": "+last(op2), "check that the registry runs and can be reached"
	default:
		return &Error{Ref: ref.String(), Op: op, Err: err, Hint: "try again; if it stays so, ask who runs " + host}
	}
	return &Error{Ref: ref.String(), Op: op, Err: &short{err, text}, Hint: hint}
}

const caHint = "name its authority with --ca-file FILE, or use --insecure"

// statusText explains an HTTP status.
func statusText(te *transport.Error, ref name.Reference, what string, keys authn.Keychain) (text, hint string) {
	host := ref.Context().RegistryStr()
	switch te.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		auth, err := keys.Resolve(ref.Context())
		if err != nil || auth == authn.Anonymous {
			return host + " wants credentials, and docker's configuration has none for it", "docker login " + host
		}
		return host + " does not accept the credentials of docker's configuration for " + ref.Context().RepositoryStr(),
			"docker login " + host + ", with an account that may pull it"
	case http.StatusNotFound:
		for _, d := range te.Errors {
			if d.Code == transport.NameUnknownErrorCode {
				return "the registry has no repository " + ref.Context().RepositoryStr(), "check the name"
			}
		}
		if what != ref.Identifier() {
			return "the registry has no " + what + " in " + ref.Context().RepositoryStr(), "the image is not whole: push it again"
		}
		return "the registry has no " + what + " in " + ref.Context().RepositoryStr(), "check the tag or digest"
	case http.StatusTooManyRequests:
		return host + " limits the number of requests (429)", "wait, or log in for a higher limit: docker login " + host
	}
	if te.StatusCode == http.StatusBadRequest && strings.Contains(te.Error(), "HTTP request to an HTTPS server") {
		// HTTP is tried on hosts of the local network once HTTPS has failed.
		return "the TLS certificate of " + host + " is not trusted", caHint
	}
	if te.StatusCode >= 500 {
		return fmt.Sprintf("%s is out of order (%d %s)", host, te.StatusCode, http.StatusText(te.StatusCode)), "try again later"
	}
	return fmt.Sprintf("%s answered %d %s", host, te.StatusCode, http.StatusText(te.StatusCode)), "check that " + host + " is a registry"
}

// last is the text of the innermost cause.
func last(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
