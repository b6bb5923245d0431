package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/gpulint/gpulint/facts"
)

// result renders one finding.
func (b *sarifBuilder) result(f facts.Finding, p placer, rule int, compared bool) sarifResult {
	location, inRepository, shown := p.primary(f)
	r := sarif.NewRuleResult(ruleID(f)).
		WithRuleIndex(rule).
		WithLevel(sarifLevel(f.Level)).
		WithLocations([]*sarif.Location{location})
	dropped := b.addRelated(r, f, p, shown)
	r.WithMessage(sarif.NewTextMessage(resultText(f, dropped)))
	r.PartialFingerprints = map[string]any{"gpulint/v1": f.Fingerprint}
	if !inRepository {
		// upload-sarif computes this key for files of the checkout alone.
		r.PartialFingerprints["primaryLocationLineHash"] = f.Fingerprint + ":1"
	}
	if compared {
		state := "new"
		if f.Status == facts.StatusBaseline {
			state = "unchanged"
		}
		r.WithBaselineState(state)
	}
	r.Properties = resultProperties(f)
	out := sarifResult{Result: r}
	if f.Status == facts.StatusIgnored {
		out.Suppressions = []suppression{{Kind: "external", Justification: limit(plain(spaced(f.Reason)), maxText)}}
	}
	return out
}

// comparedWithBaseline says whether results are told new or unchanged.
func comparedWithBaseline(fs []facts.Finding) bool {
	return slices.ContainsFunc(fs, func(f facts.Finding) bool { return f.Status == facts.StatusBaseline })
}

// addRelated adds the places beside the one that is shown, and returns how many
// of them it had to leave out.
func (b *sarifBuilder) addRelated(r *sarif.Result, f facts.Finding, p placer, shown int) int {
	if len(f.Evidence) < 2 {
		return 0
	}
	rest := slices.Delete(slices.Clone(f.Evidence), shown, shown+1)
	n := min(len(rest), maxRelated, b.related)
	b.related -= n
	for i, e := range rest[:n] {
		r.AddRelatedLocation(p.related(i+1, e))
	}
	return len(rest) - n
}

// Bounds of parts of a message, in UTF-16 units: maxInstruction of an
// instruction, minMessage of the finding's own text.
const (
	maxInstruction = 200
	minMessage     = 200
)

// resultText says all that a reader of an alert needs: GitHub shows the message
// and little else.
func resultText(f facts.Finding, dropped int) string {
	origin, predicted, targets, more := "", "", "", ""
	if len(f.Evidence) > 0 {
		origin = originText(f.Evidence[0])
	}
	if p := f.Predicted; p != nil {
		predicted = prefixed("At run time: ", limit(plain(spaced(errorText(p.Code, p.Text))), 200))
	}
	if len(f.Targets) > 0 {
		targets = "Targets: " + limit(plain(some(f.Targets, maxTargets)), 200)
	}
	if dropped > 0 {
		more = fmt.Sprintf("%s not shown here", count(dropped, "further place"))
	}
	more = sentences(more)
	// All but the message must leave it some room, and what is left out is said
	// in any case.
	rest := limit(sentences(origin, targets, predicted, prefixed("Fix: ", limit(plain(spaced(f.Fix)), 250))), maxText-minMessage-len(more)-2)
	rest = strings.TrimSpace(rest + " " + more)
	message := either(plain(spaced(f.Message)), ruleID(f))
	room := max(maxText-len(rest)-10, minMessage-10)
	return sentences(limit(message, room), rest)
}

// originText says what brought a piece of evidence: its layer, instruction and
// package.
func originText(e facts.Evidence) string {
	var parts []string
	if l := e.Layer; l != nil {
		// A diff ID is what the image's configuration claims: any text.
		text := strings.TrimSpace(fmt.Sprintf("layer %d %s", l.Index, plain(shortDigest(either(l.Digest, l.DiffID)))))
		if command := instruction(l.CreatedBy); command != "" {
			text += " (" + limit(plain(command), maxInstruction) + ")"
		}
		parts = append(parts, text)
	}
	if e.Package != "" {
		parts = append(parts, "package "+limit(plain(spaced(e.Package)), 100))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Brought by " + strings.Join(parts, ", ")
}

// evidenceText describes a further place.
func evidenceText(e facts.Evidence) string {
	text := e.Path
	if e.Detail != "" {
		if text != "" {
			text += ": "
		}
		text += spaced(e.Detail)
	}
	return sentences(limit(text, 500), originText(e))
}

// resultProperties are the facts of a result for programs.
func resultProperties(f facts.Finding) sarif.Properties {
	p := sarif.Properties{}
	if len(f.Targets) > 0 {
		p["targets"] = f.Targets[:min(len(f.Targets), 100)]
	}
	if f.Predicted != nil && f.Predicted.Code != 0 {
		p["code"] = f.Predicted.Code
	}
	if len(f.Evidence) == 0 {
		return p
	}
	e := f.Evidence[0]
	if e.Path != "" {
		p["path"] = limit(e.Path, maxText)
	}
	if e.Package != "" {
		p["package"] = limit(e.Package, maxText)
	}
	if l := e.Layer; l != nil {
		p["layer"] = map[string]any{
			"index": l.Index, "digest": limit(l.Digest, maxName), "diffId": limit(l.DiffID, maxName), "createdBy": limit(l.CreatedBy, maxText),
		}
	}
	return p
}
