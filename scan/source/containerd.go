package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	content "github.com/containerd/containerd/api/services/content/v1"
	images "github.com/containerd/containerd/api/services/images/v1"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// KindContainerd is containerd's content store.
const KindContainerd = "containerd"

// namespaces are asked in this order if CONTAINERD_NAMESPACE is not set: that
// of ctr and nerdctl, the kubelet's, and Docker's.
var namespaces = []string{"default", "k8s.io", "moby"}

// containerd is the store of a local containerd. Blobs are read through its
// content service: each layer by itself, nothing is exported.
type containerd struct {
	ctx     context.Context // with the namespace; ends the connection's use
	stall   time.Duration
	images  images.ImagesClient
	content content.ContentClient
}

// containerdAddress is the socket: CONTAINERD_ADDRESS, else one that is there.
func containerdAddress() (string, error) {
	if a := os.Getenv("CONTAINERD_ADDRESS"); a != "" {
		return strings.TrimPrefix(a, "unix://"), nil
	}
	sockets := []string{"/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock"}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		sockets = append(sockets, filepath.Join(d, "containerd", "containerd.sock"))
	}
	for _, p := range sockets {
		if st, err := os.Stat(p); err == nil && st.Mode()&os.ModeSocket != 0 {
			return p, nil
		}
	}
	return "", errNoDaemon
}

// OpenContainerd opens an image of containerd's store. ref is what the user
// wrote, image the image's name. The error is of type [Error].
func OpenContainerd(ctx context.Context, ref, image string, o Options) (*Set, error) {
	w, err := parsePlatforms(o)
	if err != nil {
		return nil, &Error{Ref: ref, Op: "--platform", Err: err, Usage: true, Hint: hintOf(err)}
	}
	set, err := openContainerd(ctx, ref, image, w, cmp.Or(o.Stall, defaultStall))
	if errors.Is(err, errNoDaemon) {
		err = hintf("start it, name its socket with CONTAINERD_ADDRESS, or name an image of a registry with registry:REF", "%w", err)
	}
	if err != nil {
		return nil, fail(ref, "asking containerd", err)
	}
	return set, nil
}

// LocalContainerd opens an image if a containerd runs here and has it. The set
// is nil if not; the error then says why it could not be asked.
func LocalContainerd(ctx context.Context, ref string, o Options) (*Set, error) {
	if _, err := name.ParseReference(ref); err != nil {
		return nil, nil //nolint:nilerr,nilnil // no name: the registry's parser says so
	}
	set, err := OpenContainerd(ctx, ref, ref, o)
	if errors.Is(err, errNoDaemon) || errors.Is(err, errNoImage) {
		return nil, nil //nolint:nilnil // it is not there
	}
	return set, err
}

// errNoImage says that a store does not have an image of the name.
var errNoImage = errors.New("it has no such image")

func openContainerd(ctx context.Context, ref, image string, w wanted, stall time.Duration) (*Set, error) {
	address, err := containerdAddress()
	if err != nil {
		return nil, err
	}
	// The context of the call ends with it; blobs are opened later, by others.
	conn, err := grpc.NewClient("unix:"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, err
	}
	s := &containerd{stall: stall, images: images.NewImagesClient(conn), content: content.NewContentClient(conn)}
	set, err := s.open(ctx, ref, image, w)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	set.closer = conn
	return set, nil
}

// maxMessage bounds one answer in bytes; contents come in pieces of less.
const maxMessage = 16 << 20

func (s *containerd) open(ctx context.Context, ref, image string, w wanted) (*Set, error) {
	target, full, err := s.find(ctx, image)
	if err != nil {
		return nil, err
	}
	r := &resolver{ref: ref, kind: KindContainerd, store: s, wanted: w}
	raw, err := r.fetch(ctx, target, maxManifest, "reading the manifest")
	if err != nil {
		return nil, err
	}
	found, err := r.root(ctx, target, raw, stripTag(full))
	if err != nil {
		return nil, err
	}
	return &Set{Images: found}, nil
}

// find looks a name up in the namespaces, as it stands and in full.
func (s *containerd) find(ctx context.Context, image string) (v1.Descriptor, string, error) {
	spaces := namespaces
	if n := os.Getenv("CONTAINERD_NAMESPACE"); n != "" {
		spaces = []string{n}
	}
	names := []string{image}
	if r, err := name.ParseReference(image); err == nil {
		full := r.Name()
		if rest, ok := strings.CutPrefix(full, name.DefaultRegistry+"/"); ok {
			full = "docker.io/" + rest // as containerd writes it
		}
		if full != image {
			names = append(names, full)
		}
	}
	for _, space := range spaces {
		s.ctx = metadata.AppendToOutgoingContext(ctx, "containerd-namespace", space)
		for _, n := range names {
			ask, cancel := context.WithTimeout(s.ctx, probeTime)
			got, err := s.images.Get(ask, &images.GetImageRequest{Name: n})
			cancel()
			switch {
			case ctx.Err() != nil:
				return v1.Descriptor{}, "", context.Cause(ctx)
			case status.Code(err) == codes.NotFound:
				continue
			case err != nil:
				return v1.Descriptor{}, "", containerdError(err)
			}
			d, err := descriptorOf(got)
			return d, n, err
		}
	}
	return v1.Descriptor{}, "", hintf("ctr -n NAMESPACE images ls shows what it has (CONTAINERD_NAMESPACE names another namespace); an image of a registry is named registry:"+image,
		"%w in the namespaces %v", errNoImage, spaces)
}

func descriptorOf(got *images.GetImageResponse) (v1.Descriptor, error) {
	t := got.GetImage().GetTarget()
	digest, err := v1.NewHash(t.GetDigest())
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("containerd names a digest that is none: %w", err)
	}
	return v1.Descriptor{MediaType: types.MediaType(t.GetMediaType()), Digest: digest, Size: t.GetSize()}, nil
}

// has asks for a blob: a node fetches only its own platform, and may discard
// layers once they are unpacked.
func (s *containerd) has(d v1.Descriptor) bool {
	ctx, cancel := context.WithTimeout(s.ctx, probeTime)
	defer cancel()
	_, err := s.content.Info(ctx, &content.InfoRequest{Digest: d.Digest.String()})
	return status.Code(err) != codes.NotFound
}

func (*containerd) key(v1.Descriptor) string { return "" }

func (s *containerd) fetch(ctx context.Context, d v1.Descriptor, limit int64) ([]byte, error) {
	b, err := s.layer(ctx, d)
	if err != nil {
		return nil, err
	}
	return readAll(b, limit)
}

func (s *containerd) layer(ctx context.Context, d v1.Descriptor) (Blob, error) {
	space, _ := metadata.FromOutgoingContext(s.ctx)
	ctx, cancel := context.WithCancelCause(metadata.NewOutgoingContext(ctx, space))
	stream, err := s.content.Read(ctx, &content.ReadContentRequest{Digest: d.Digest.String()})
	if err != nil {
		cancel(nil)
		return nil, containerdError(err)
	}
	return &contentBlob{ctx: ctx, stall: s.stall, stream: stream, cancel: cancel, size: d.Size}, nil
}

// contentBlob reads a blob of the content store as it comes.
type contentBlob struct {
	ctx    context.Context
	stream content.Content_ReadClient
	cancel context.CancelCauseFunc
	// stall is how long no bytes may come.
	stall time.Duration
	rest  []byte
	// off is how much has come of size, which is negative if it is not known.
	off, size int64
}

// Read implements io.Reader.
func (b *contentBlob) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		stalled := time.AfterFunc(b.stall, func() {
			b.cancel(hintf("see what containerd does", "containerd sent nothing for %s, after %d of %d bytes", b.stall, b.off, b.size))
		})
		m, err := b.stream.Recv()
		stalled.Stop()
		switch {
		case errors.Is(err, io.EOF) && b.off < b.size:
			return 0, fmt.Errorf("containerd sent %d bytes of %d: %w", b.off, b.size, io.ErrUnexpectedEOF)
		case errors.Is(err, io.EOF):
			return 0, io.EOF
		case err != nil && b.ctx.Err() != nil:
			return 0, context.Cause(b.ctx)
		case err != nil:
			return 0, containerdError(err)
		case m.GetOffset() != b.off:
			return 0, fmt.Errorf("containerd sent the bytes at %d, those at %d were due", m.GetOffset(), b.off)
		}
		b.rest = m.GetData()
		if b.off += int64(len(b.rest)); b.size >= 0 && b.off > b.size {
			return 0, hintf("pull the image again", "containerd sent more than the %d bytes that the manifest names", b.size)
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close ends the transfer.
func (b *contentBlob) Close() error { b.cancel(nil); return nil }

// Section implements Blob.
func (*contentBlob) Section() *io.SectionReader { return nil }

// containerdError says in plain words what containerd answered.
func containerdError(err error) error {
	s, ok := status.FromError(err)
	switch {
	case !ok:
		return err
	case s.Code() == codes.NotFound:
		return hintf("pull it again (ctr content fetch, or discard_unpacked_layers = false on the node), or name an image of a registry with registry:REF",
			"the blob is missing in containerd's store: nodes may discard layers once they are unpacked")
	case s.Code() == codes.Unavailable && permission(s.Message()):
		return hintf("run as a user that may use its socket, most often root", "no permission for the socket of containerd")
	case s.Code() == codes.Unavailable:
		return hintf("start it, or name its socket with CONTAINERD_ADDRESS", "containerd cannot be reached: %s", s.Message())
	case s.Code() == codes.DeadlineExceeded:
		return hintf("see what containerd does", "containerd did not answer within %s", probeTime)
	}
	return &short{err, s.Message()}
}
