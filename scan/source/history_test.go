package source

import (
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestInstructions holds which history entry is a layer's, also where their
// numbers differ. An entry with a minus made no layer.
func TestInstructions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		history string
		layers  int
		want    string
	}{
		"one each":               {"ADD RUN COPY", 3, "ADD RUN COPY"},
		"some made no layer":     {"ADD -ENV RUN -CMD", 2, "ADD RUN"},
		"no history":             {"", 2, " "},
		"a base without history": {"-ENV RUN COPY", 4, "  RUN? COPY?"},
		"marked empty wrongly":   {"-ADD -RUN", 2, "ADD RUN"},
		"squashed":               {"ADD RUN COPY", 1, ""},
		"no layers":              {"-ENV", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &v1.ConfigFile{}
			for _, s := range strings.Fields(tt.history) {
				by, empty := strings.CutPrefix(s, "-")
				c.History = append(c.History, v1.History{CreatedBy: by, EmptyLayer: empty})
			}
			var got []string
			for _, in := range instructions(c, tt.layers) {
				s := in.createdBy
				if in.guessed {
					s += "?"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%q, want %q", s, tt.want)
			}
			if len(got) != tt.layers {
				t.Errorf("%d instructions", len(got))
			}
		})
	}
}
