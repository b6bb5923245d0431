package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/gpulint/gpulint/facts"
)

// ruleTable is the rules of a run, sorted, with the place of each.
type ruleTable struct {
	descriptors []*sarif.ReportingDescriptor
	index       map[string]int
}

// newRules describes all rules that ran, those too that found nothing: readers
// can tell a rule that passed from one that does not exist. Of a rule that is
// known by its findings alone, they give the description.
func newRules(ran []facts.Rule, fs []facts.Finding) ruleTable {
	byID := map[string]facts.Rule{}
	for _, r := range ran {
		if id := plain(limit(r.ID, maxName)); id != "" {
			r.ID = id
			byID[id] = r
		}
	}
	for _, f := range fs {
		id := ruleID(f)
		if _, ok := byID[id]; !ok {
			byID[id] = facts.Rule{ID: id, Name: f.Name, Level: f.Level, Fix: f.Fix, HelpURI: f.HelpURI}
		}
	}
	ids := make([]string, 0, len(byID))
	for id := range byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	t := ruleTable{descriptors: []*sarif.ReportingDescriptor{}, index: map[string]int{}}
	for i, id := range ids {
		t.index[id] = i
		t.descriptors = append(t.descriptors, descriptor(byID[id]))
	}
	return t
}

// ruleID is the ID of a finding's rule, which SARIF wants in any case.
func ruleID(f facts.Finding) string {
	return either(plain(limit(f.Rule, maxName)), "unknown")
}

func descriptor(r facts.Rule) *sarif.ReportingDescriptor {
	title := sentences(limit(plain(spaced(either(r.Title, strings.ReplaceAll(either(r.Name, r.ID), "-", " ")))), maxDescription-1))
	d := sarif.NewRule(r.ID).
		WithName(ruleName(r)).
		WithShortDescription(sarif.NewMultiformatMessageString(title)).
		WithFullDescription(sarif.NewMultiformatMessageString(
			sentences(limit(plain(spaced(either(r.Description, title))), maxDescription-1)))).
		WithHelp(sarif.NewMultiformatMessageString(limit(helpText(r, title), maxHelp)).
			WithMarkdown(limit(helpMarkdown(r, title), maxHelp))).
		WithHelpURI(helpURI(r)).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(sarifLevel(r.Level)))
	d.Properties = sarif.Properties{
		"precision":        "high",
		"problem.severity": problemSeverity(r.Level),
		"tags":             tags(r.ID),
	}
	return d
}

// ruleName is a friendly name that differs from the ID.
func ruleName(r facts.Rule) string {
	n := pascal(r.Name)
	if n == "" || len(n) > maxName || strings.EqualFold(n, r.ID) {
		return "Rule" + limit(pascal(r.ID), maxName/2)
	}
	return n
}

func sarifLevel(level string) string {
	if rank(level) > rank(facts.Note) {
		return facts.Note
	}
	return level
}

// problemSeverity is GitHub's word for the level of a rule that is not about
// security.
func problemSeverity(level string) string {
	if l := sarifLevel(level); l != facts.Note {
		return l
	}
	return "recommendation"
}

// helpURI is the rule's page; a rule of the user's may have none.
func helpURI(r facts.Rule) string {
	u, err := url.Parse(r.HelpURI)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(r.HelpURI) < maxText {
		return u.String()
	}
	if builtIn(r.ID) {
		return rulesURI + r.ID + ".md"
	}
	return informationURI
}

// builtIn says whether an ID is of the project's own: GPU and three digits.
func builtIn(id string) bool {
	digits, ok := strings.CutPrefix(id, "GPU")
	return ok && len(digits) == 3 && strings.Trim(digits, "0123456789") == ""
}

// groups of rules by the first digit of their ID.
var ruleGroups = map[byte]string{
	'1': "driver", '2': "cuda", '3': "device-code", '4': "environment", '5': "libraries",
	'6': "kubernetes", '7': "fleet", '8': "security", '9': "scan",
}

func tags(id string) []string {
	t := []string{"gpu", "container"}
	if builtIn(id) {
		if g := ruleGroups[id[3]]; g != "" {
			t = append(t, g)
		}
	}
	return t
}

// helpText is the help of a rule for readers without Markdown.
func helpText(r facts.Rule, title string) string {
	return sentences(
		plain(spaced(either(r.Description, title))),
		prefixed("At run time: ", plain(spaced(r.Predicts))),
		prefixed("Fix: ", plain(spaced(r.Fix))),
	)
}

// helpMarkdown is the help of a rule as it stands beside an alert.
func helpMarkdown(r facts.Rule, title string) string {
	parts := []string{fmt.Sprintf("# %s %s", r.ID, title)}
	for _, p := range []struct{ heading, text string }{
		{"", r.Description},
		{"**At run time:** ", r.Predicts},
		{"**Fix:** ", r.Fix},
	} {
		if p.text != "" {
			parts = append(parts, p.heading+multiline(p.text))
		}
	}
	for _, p := range []struct{ heading, text string }{{"Before:", r.Before}, {"After:", r.After}} {
		if p.text != "" {
			parts = append(parts, p.heading, fence(multiline(p.text)))
		}
	}
	for _, ref := range r.References {
		parts = append(parts, "- <"+visible(ref)+">")
	}
	parts = append(parts, "[More about "+r.ID+"]("+helpURI(r)+")")
	return strings.Join(parts, "\n\n")
}

// multiline is a text with its line breaks, and all else in it visible.
func multiline(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = visible(l)
	}
	return strings.Join(lines, "\n")
}

// fence puts a text into a code block that the text cannot end.
func fence(s string) string {
	marks := "```"
	for strings.Contains(s, marks) {
		marks += "`"
	}
	return marks + "\n" + s + "\n" + marks
}

func prefixed(label, s string) string {
	if s == "" {
		return ""
	}
	return label + s
}
