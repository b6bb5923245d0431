//go:build integration

package integration

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mirrorVariable names a mirror where apt's own configuration has none.
const mirrorVariable = "GPULINT_DEBIAN_MIRROR"

// mirror returns the URL from which this machine takes Debian itself.
func mirror() (string, error) {
	if m := os.Getenv(mirrorVariable); m != "" {
		return m, nil
	}
	files := []string{"/etc/apt/sources.list"}
	for _, pattern := range []string{"*.list", "*.sources"} {
		more, err := filepath.Glob(filepath.Join("/etc/apt/sources.list.d", pattern))
		if err != nil {
			return "", err
		}
		files = append(files, more...)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the file need not be there
		}
		parse := parseList
		if strings.HasSuffix(name, ".sources") {
			parse = parseSources
		}
		for _, s := range parse(string(data)) {
			if s.isDebian() {
				return s.uri, nil
			}
		}
	}
	return "", fmt.Errorf("no source in /etc/apt serves Debian's main suite: run this on Debian, or set %s=http://deb.debian.org/debian", mirrorVariable)
}

// source is one line of sources.list, or its like in a stanza.
type source struct {
	uri, suite string
	components []string
}

// isDebian says whether the source is Debian's main archive: other vendors
// have a component main too, but not these suites.
func (s source) isDebian() bool {
	if !slices.Contains(s.components, "main") {
		return false
	}
	path := strings.TrimSuffix(s.uri, "/")
	if strings.HasSuffix(path, "-security") || strings.HasSuffix(path, "/ubuntu") {
		return false
	}
	return slices.Contains([]string{
		"bullseye", "bookworm", "trixie", "forky", "duke", "sid",
		"oldoldstable", "oldstable", "stable", "testing", "unstable",
	}, s.suite)
}

// parseList reads the one-line format: deb [options] uri suite component...
func parseList(text string) []source {
	var out []source
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if i, j := strings.Index(line, "["), strings.Index(line, "]"); 0 <= i && i < j {
			line = line[:i] + line[j+1:]
		}
		if f := strings.Fields(line); len(f) >= 4 && f[0] == "deb" {
			out = append(out, source{f[1], f[2], f[3:]})
		}
	}
	return out
}

// parseSources reads the deb822 format.
func parseSources(text string) []source {
	var out []source
	stanza := map[string]string{}
	field := ""
	flush := func() {
		if slices.Contains(strings.Fields(stanza["types"]), "deb") && !strings.EqualFold(stanza["enabled"], "no") {
			for _, uri := range strings.Fields(stanza["uris"]) {
				for _, suite := range strings.Fields(stanza["suites"]) {
					out = append(out, source{uri, suite, strings.Fields(stanza["components"])})
				}
			}
		}
		clear(stanza)
	}
	sc := bufio.NewScanner(strings.NewReader(text))
	for sc.Scan() {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			flush()
		case line[0] == ' ' || line[0] == '\t':
			stanza[field] += " " + strings.TrimSpace(line)
		default:
			name, value, _ := strings.Cut(line, ":")
			field = strings.ToLower(strings.TrimSpace(name))
			stanza[field] = strings.TrimSpace(value)
		}
	}
	flush()
	return out
}

func TestParseSources(t *testing.T) {
	t.Parallel()
	const debian = "http://deb.example.org/debian"
	for name, tt := range map[string]struct {
		sources []source
		want    string
	}{
		"one line": {
			parseList("# deb http://no.example.org/debian bookworm main\ndeb-src " + debian + " bookworm main\n" +
				"deb [signed-by=/k.gpg] http://cloud.example.org/apt cloud-sdk-bookworm main\n" +
				"deb http://deb.example.org/debian-security bookworm main\n" +
				"deb [arch=amd64 signed-by=/k.gpg] " + debian + " bookworm main contrib # comment\n"),
			debian,
		},
		"stanzas": {
			parseSources("Types: deb\nEnabled: no\nURIs: http://off.example.org/debian\nSuites: trixie\nComponents: main\n\n" +
				"Types: deb\nURIs: http://deb.example.org/debian-security\nSuites: bookworm-security\nComponents: main\n\n" +
				"# comment\nTypes: deb deb-src\nURIs:\n " + debian + "\nSuites: trixie-updates trixie\nComponents: contrib main\nSigned-By:\n x\n"),
			debian,
		},
		"another distribution": {
			parseList("deb http://archive.example.org/ubuntu noble main\ndeb http://deb.example.org/node nodistro main\n"), "",
		},
	} {
		got := ""
		for _, s := range slices.Backward(tt.sources) {
			if s.isDebian() {
				got = s.uri
			}
		}
		if got != tt.want {
			t.Errorf("%s: mirror %q, want %q", name, got, tt.want)
		}
	}
}
