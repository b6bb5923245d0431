package report

import (
	"math/rand/v2"

	"github.com/gpulint/gpulint/facts"
)

// generator makes reports of random parts.
type generator struct {
	*rand.Rand
	// sane has its words be those that the packages before this one use.
	sane bool
}

func (g generator) text() string {
	s := nasty[g.IntN(len(nasty))]
	return s[:min(len(s), 1500)] // long enough to be cut, and quick to render
}

func (g generator) word(words ...string) string {
	if !g.sane && g.IntN(4) == 0 {
		return g.text()
	}
	return words[g.IntN(len(words))]
}

// texts are none to n texts.
func (g generator) texts(n int) []string { return several(g, n, g.text) }

// several makes none to n things, none of them as nil.
func several[T any](g generator, n int, one func() T) []T {
	var out []T
	for range g.IntN(n + 1) {
		out = append(out, one())
	}
	return out
}

func (g generator) digest() string {
	return g.word("sha256:"+hexOf("a"), "sha256:"+hexOf("0"), "")
}

func (g generator) level() string {
	return g.word(facts.LevelNative, facts.LevelMinor, facts.LevelForward, facts.LevelIncompatible, facts.LevelUnknown)
}

func randomReport(r *rand.Rand, sane bool) *facts.Report {
	g := generator{r, sane}
	rep := &facts.Report{Tool: facts.Tool{Name: "gpulint", Version: g.text(), Matrix: g.text()}}
	for i := range g.IntN(6) {
		id := g.text() + string(rune('a'+i))
		rep.Subjects = append(rep.Subjects, g.subject(id))
		rep.Verdicts = append(rep.Verdicts, g.verdict(id))
	}
	rep.Targets = several(g, 3, func() facts.Target {
		return facts.Target{
			Name: g.text(), Driver: g.text(), CUDA: g.text(), GPUs: g.texts(2), Platform: g.text(),
			Runtime: g.word(append(facts.Modes(), "")...), Toolkit: g.text(), Count: g.IntN(3),
		}
	})
	rep.Findings = several(g, 20, func() facts.Finding { return g.finding(rep.Subjects) })
	rep.Failures = several(g, 2, func() facts.Failure { return facts.Failure{Ref: g.text(), Message: g.text(), Hint: g.text()} })
	rep.Rules = several(g, 2, func() facts.Rule {
		return facts.Rule{
			ID: g.word("GPU101", "ACME1"), Name: g.text(), Level: g.word(facts.Error, facts.Note), Title: g.text(), HelpURI: g.text(),
			Description: g.text(), Predicts: g.text(), Fix: g.text(), Before: g.text(), After: g.text(), References: g.texts(2),
		}
	})
	return rep
}

func (g generator) subject(id string) facts.Subject {
	s := facts.Subject{
		ID: id, Kind: g.word(facts.KindImage, facts.KindConfig, facts.KindWorkload, facts.KindNode, facts.KindResource), Ref: g.text(),
		Name: g.word("acme/a", "acme/b", ""), Digest: g.digest(), Platform: g.word("linux/amd64", "linux/arm64", ""),
		IndexPlatforms: g.texts(2), AbsentPlatforms: g.texts(2), Verified: g.IntN(2) == 0, ImageKinds: g.texts(2),
	}
	s.Layers = several(g, 3, func() facts.Layer {
		return facts.Layer{
			Index: g.IntN(9), Digest: g.digest(), DiffID: g.text(), Size: g.Int64N(1 << 40), MediaType: g.text(),
			CreatedBy: g.text(), Entries: g.IntN(9), Verified: g.IntN(2) == 0, Foreign: g.IntN(2) == 0,
		}
	})
	if g.IntN(2) == 0 {
		s.Needs = &facts.Needs{Driver: facts.DriverNeed{Native: g.text(), Minor: g.text()}}
		s.Needs.CUDA = several(g, 2, func() facts.CUDANeed {
			return facts.CUDANeed{Version: g.text(), Linkage: g.word("shared", "static"), Consumers: g.texts(5), Native: g.text(), Minor: g.text()}
		})
	}
	return s
}

func (g generator) reasons() []facts.Reason {
	return several(g, 2, func() facts.Reason {
		return facts.Reason{Text: g.text(), Source: g.text(), Confidence: g.word("high", "medium", "low", "")}
	})
}

func (g generator) verdict(subject string) facts.Verdict {
	v := facts.Verdict{
		Subject: subject, Target: g.text(), RuntimeMode: g.word(facts.Modes()...), Level: g.level(), Code: g.IntN(999), Text: g.text(),
		DeviceCode:     g.word("sass", "jit", "partial", "none", "unknown", ""),
		UserModeDriver: facts.UserModeDriver{Kind: g.word("host", "compat", "bundled", "stub", "none", "unknown", ""), Driver: g.text()},
		Reasons:        g.reasons(),
	}
	v.Runtimes = several(g, 3, func() facts.RuntimeVerdict {
		return facts.RuntimeVerdict{CUDA: g.text(), Level: g.level(), Code: g.IntN(999), Text: g.text(), Paths: g.texts(3), Reasons: g.reasons()}
	})
	return v
}

func (g generator) finding(subjects []facts.Subject) facts.Finding {
	f := facts.Finding{
		Subject: g.text(), Rule: g.word("GPU101", "GPU211", "ACME1"), Name: g.word("a-b", "x"), Level: g.word(facts.Error, facts.Warning, facts.Note),
		Message: g.text(), Targets: g.texts(12), Fix: g.text(), HelpURI: g.text(), Fingerprint: hexOf(string("0123456789abcdef"[g.IntN(16)])),
		Status: g.word(facts.StatusActive, facts.StatusIgnored, facts.StatusBaseline), Reason: g.text(),
	}
	if n := len(subjects); n > 0 {
		f.Subject = subjects[g.IntN(n)].ID
	}
	if g.IntN(2) == 0 {
		f.Predicted = &facts.Predicted{Code: g.IntN(999), Text: g.text()}
	}
	f.Evidence = several(g, 4, func() facts.Evidence {
		e := facts.Evidence{Path: g.text(), Package: g.text(), Detail: g.text()}
		switch g.IntN(3) {
		case 0:
			e.Layer = &facts.LayerRef{Index: g.IntN(9), Digest: g.text(), DiffID: g.text(), Size: g.Int64N(1 << 40), CreatedBy: g.text()}
		case 1:
			e.Source = &facts.SourceRef{File: g.text(), Line: g.IntN(3), Column: g.IntN(3)}
		}
		return e
	})
	return f
}
