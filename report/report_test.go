package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/gpulint/gpulint/facts"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	failed := &facts.Report{
		Tool:     facts.Tool{Name: "gpulint", Version: "0.1.0"},
		Failures: []facts.Failure{{Ref: "a.tar", Message: "a.tar: layer 2: the blob is cut off", Hint: "save it again"}},
	}
	for _, tt := range []struct {
		file, format string
		options      Options
		report       *facts.Report
	}{
		{"table.txt", "table", Options{}, sample()},
		{"table_wide.txt", "table", Options{Width: 200}, sample()},
		{"table_narrow.txt", "table", Options{Width: 20}, sample()},
		{"table_color.txt", "table", Options{Color: true}, sample()},
		{"table_explain.txt", "table", Options{Explain: true, Verbose: true, ShowIgnored: true}, sample()},
		{"table_verbose.txt", "table", Options{Verbose: true, ShowIgnored: true}, sample()},
		{"table_hostile.txt", "table", Options{Explain: true, Verbose: true, ShowIgnored: true}, hostileButValid(worstName)},
		{"hostile.json", "json", Options{}, hostileButValid(worstName)},
		{"hostile.sarif", "sarif", Options{ShowIgnored: true}, hostileButValid(worstName)},
		{"table_severity.txt", "table", Options{Severity: facts.Warning}, sample()},
		{"table_failed.txt", "table", Options{}, failed},
		{"table_empty.txt", "table", Options{}, &facts.Report{}},
		{"report.json", "json", Options{}, sample()},
		{"failed.json", "json", Options{}, failed},
		{"report.sarif", "sarif", Options{ShowIgnored: true}, sample()},
		{"anchor.sarif", "sarif", Options{Anchor: "docker/Dockerfile"}, sample()},
		{"failed.sarif", "sarif", Options{}, failed},
		{"empty.sarif", "sarif", Options{}, &facts.Report{Tool: facts.Tool{Name: "gpulint", Version: "0.1.0"}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got := render(t, tt.format, tt.options, tt.report)
			golden(t, tt.file, got)
			if again := render(t, tt.format, tt.options, tt.report); !bytes.Equal(got, again) {
				t.Error("the second rendering differs")
			}
		})
	}
}

// TestHostileTable holds that no text of an image acts on a terminal or makes
// a line of its own.
func TestHostileTable(t *testing.T) {
	t.Parallel()
	for _, s := range nasty {
		for _, format := range []string{"table", "json", "sarif"} {
			out := string(render(t, format, Options{Verbose: true, Explain: true, ShowIgnored: true}, hostile(s)))
			for _, r := range out {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s of %q: %U is not printable", format, s, r)
					break
				}
			}
			for _, line := range strings.Split(out, "\n") {
				if strings.HasPrefix(line, "::") {
					t.Errorf("%s of %q: a line begins with a workflow command: %s", format, s, line)
				}
			}
		}
	}
}

type failingWriter struct{}

var errWrite = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errWrite }

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		f, err := Get(name, Options{})
		if err != nil || f.Name() != name {
			t.Fatalf("%s: %v", name, err)
		}
		if err := f.Write(failingWriter{}, sample()); !errors.Is(err, errWrite) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestGetUnknown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"sarfi": "did you mean sarif?", "xml": "formats are table, json, sarif", "": "formats are"} {
		_, err := Get(name, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestInstruction(t *testing.T) {
	t.Parallel()
	for created, want := range map[string]string{
		"RUN /bin/sh -c apt-get update # buildkit":                    "RUN apt-get update",
		"/bin/sh -c apt-get update":                                   "RUN apt-get update",
		`/bin/sh -c #(nop)  CMD ["bash"]`:                             `CMD ["bash"]`,
		"RUN |2 A=1 B=2 /bin/sh -c make   all # buildkit":             "RUN make all",
		"|1 A=secret /bin/sh -c make":                                 "RUN make",
		"COPY a b # buildkit":                                         "COPY a b",
		"bazel build //:image":                                        "bazel build //:image",
		"RUN /bin/sh -c echo a &&     echo b\n\t&& echo c # buildkit": "RUN echo a && echo b && echo c",
		"": "",
	} {
		if got := instruction(created); got != want {
			t.Errorf("%q: %q, want %q", created, got, want)
		}
	}
}
