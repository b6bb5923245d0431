// Package sarifcheck tells what in a SARIF file GitHub's code scanning would
// refuse, drop or show wrongly although the file fits the schema. It is for
// tests.
package sarifcheck

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Limits of an upload.
const (
	maxRuns       = 20
	maxResults    = 5000
	maxCompressed = 10_000_000
	maxRules      = 25_000
	maxLocations  = 1000
	maxTags       = 10
	maxText       = 1024
	maxName       = 255
)

// Check returns every violation, none for a good file.
func Check(data []byte) []string {
	c := &checker{}
	var l log
	if err := json.Unmarshal(data, &l); err != nil {
		return []string{"no JSON: " + err.Error()}
	}
	c.hold(l.Version == "2.1.0", "version is %q", l.Version)
	c.hold(strings.HasPrefix(l.Schema, "https://"), "$schema is %q", l.Schema)
	c.hold(len(l.Runs) >= 1 && len(l.Runs) <= maxRuns, "%d runs", len(l.Runs))
	c.hold(compressed(data) < maxCompressed, "the file has more than 10 MB when compressed")
	ids := map[string]bool{}
	for i, r := range l.Runs {
		c.at = fmt.Sprintf("run %d: ", i)
		id := r.AutomationDetails.ID
		c.hold(strings.HasPrefix(id, "gpulint/") && strings.HasSuffix(id, "/"), "automationDetails.id is %q", id)
		c.hold(!ids[id], "automationDetails.id %q occurs twice", id)
		ids[id] = true
		c.run(r)
	}
	return c.problems
}

func compressed(data []byte) int {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes all
	_ = w.Close()
	return b.Len()
}

type checker struct {
	at       string
	problems []string
}

func (c *checker) hold(ok bool, format string, args ...any) {
	if !ok && len(c.problems) < 100 {
		c.problems = append(c.problems, c.at+fmt.Sprintf(format, args...))
	}
}

func (c *checker) run(r run) {
	d := r.Tool.Driver
	c.hold(d.Name == "gpulint", "the tool is %q", d.Name)
	c.hold(d.Version != "" && d.SemanticVersion != "", "the tool has no version")
	c.hold(len(r.Invocations) == 1, "%d invocations", len(r.Invocations))
	for _, inv := range r.Invocations {
		c.hold(inv.ExecutionSuccessful != nil, "executionSuccessful is missing")
		if inv.ExecutionSuccessful != nil && !*inv.ExecutionSuccessful {
			c.hold(len(inv.ToolExecutionNotifications) > 0, "the run failed, and no notification says why")
		}
		for _, n := range inv.ToolExecutionNotifications {
			c.message(n.Message)
		}
	}
	c.hold(len(d.Rules) <= maxRules, "%d rules", len(d.Rules))
	ids := map[string]bool{}
	for i, x := range d.Rules {
		c.hold(x.ID != "", "rule %d has no id", i)
		c.hold(!ids[x.ID], "rule %s is there twice", x.ID)
		ids[x.ID] = true
		c.rule(x)
	}
	if r.Results == nil {
		c.hold(false, "results is no array")
		return
	}
	c.hold(len(*r.Results) <= maxResults, "%d results", len(*r.Results))
	at := c.at
	for i, x := range *r.Results {
		c.at = fmt.Sprintf("%sresult %d: ", at, i)
		c.result(x, d.Rules)
	}
}

func (c *checker) rule(r rule) {
	level := r.DefaultConfiguration.Level
	c.hold(r.Name != "" && len(r.Name) <= maxName, "rule %s: name of %d bytes", r.ID, len(r.Name))
	for _, t := range []string{r.ShortDescription.Text, r.FullDescription.Text} {
		c.hold(t != "" && len([]rune(t)) <= maxText, "rule %s: description of %d characters", r.ID, len([]rune(t)))
	}
	c.hold(r.Help.Text != "" && r.Help.Markdown != "", "rule %s: no help", r.ID)
	c.hold(strings.HasPrefix(r.HelpURI, "https://") || strings.HasPrefix(r.HelpURI, "http://"), "rule %s: helpUri is %q", r.ID, r.HelpURI)
	c.hold(isLevel(level), "rule %s: level is %q", r.ID, level)
	c.hold(r.Properties.Precision != "", "rule %s: no precision", r.ID)
	c.hold(len(r.Properties.Tags) <= maxTags, "rule %s: %d tags", r.ID, len(r.Properties.Tags))
	c.hold((r.Properties.Severity == "") != (r.Properties.ProblemSeverity == ""),
		"rule %s: one of security-severity and problem.severity is wanted", r.ID)
	if s := r.Properties.Severity; s != "" {
		n, err := strconv.ParseFloat(s, 64)
		c.hold(err == nil && n > 0 && n <= 10, "rule %s: security-severity is %q", r.ID, s)
	}
}

func isLevel(s string) bool { return s == "error" || s == "warning" || s == "note" }

func (c *checker) result(r result, rules []rule) {
	c.hold(r.RuleIndex != nil && *r.RuleIndex >= 0 && *r.RuleIndex < len(rules) && rules[*r.RuleIndex].ID == r.RuleID,
		"ruleIndex does not lead to %q", r.RuleID)
	c.hold(isLevel(r.Level), "level is %q", r.Level)
	c.message(r.Message)
	c.hold(len(r.Locations) == 1, "%d locations", len(r.Locations))
	c.hold(len(r.RelatedLocations) <= maxLocations, "%d related locations", len(r.RelatedLocations))
	for _, l := range slices.Concat(r.Locations, r.RelatedLocations) {
		c.location(l)
	}
	seen := map[int]bool{}
	for _, l := range r.RelatedLocations {
		c.message(l.Message)
		c.hold(!seen[l.ID], "two related locations have the id %d", l.ID)
		seen[l.ID] = true
	}
	c.hold(len(r.PartialFingerprints["gpulint/v1"]) == 64, "no fingerprint gpulint/v1")
	if h, ok := r.PartialFingerprints["primaryLocationLineHash"]; ok {
		c.hold(h == r.PartialFingerprints["gpulint/v1"]+":1", "primaryLocationLineHash is %q", h)
	}
}

// active is what viewers of plain text messages act upon.
var active = regexp.MustCompile(`\](\(|\[)|\{\d+\}`)

// message checks a text in which names from images may stand.
func (c *checker) message(m text) {
	n := 0
	for _, r := range m.Text {
		n += max(utf16.RuneLen(r), 1)
	}
	c.hold(n > 0 && n <= maxText, "message of %d characters", n)
	c.hold(!active.MatchString(m.Text), "message with a link or placeholder: %.200q", m.Text)
	hidden := strings.IndexFunc(m.Text, func(r rune) bool { return !unicode.IsPrint(r) })
	c.hold(hidden < 0, "message with hidden characters: %.200q", m.Text)
}

func (c *checker) location(l location) {
	uri := l.PhysicalLocation.ArtifactLocation.URI
	c.hold(relative(uri), "uri %q", uri)
	r := l.PhysicalLocation.Region
	if r == nil {
		c.hold(false, "no region of %q", uri)
		return
	}
	c.hold(r.StartLine >= 1 && r.StartColumn >= 1 && r.EndLine >= 1 && r.EndColumn >= 1, "region of %q is not counted from 1", uri)
	c.hold(r.EndLine > r.StartLine || r.EndLine == r.StartLine && r.EndColumn >= r.StartColumn, "region of %q ends before it starts", uri)
}
