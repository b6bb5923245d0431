// Package sarifcheck tells what in a SARIF file GitHub's code scanning would
// refuse, drop or show wrongly although the file fits the schema. It is for
// tests.
package sarifcheck

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Limits of an upload.
const (
	maxRuns       = 20
	maxResults    = 5000
	maxCompressed = 10 << 20
	maxLocations  = 1000
	maxTags       = 10
	maxText       = 1024
	maxName       = 255
)

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool struct {
		Driver struct {
			Name            string `json:"name"`
			Version         string `json:"version"`
			SemanticVersion string `json:"semanticVersion"`
			Rules           []rule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	AutomationDetails struct {
		ID string `json:"id"`
	} `json:"automationDetails"`
	Invocations []struct {
		ExecutionSuccessful        *bool `json:"executionSuccessful"`
		ToolExecutionNotifications []struct {
			Message text `json:"message"`
		} `json:"toolExecutionNotifications"`
	} `json:"invocations"`
	Results *[]result `json:"results"`
}

type text struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type rule struct {
	ID                   string `json:"id"`
	Name                 string `json:"name"`
	ShortDescription     text   `json:"shortDescription"`
	FullDescription      text   `json:"fullDescription"`
	Help                 text   `json:"help"`
	HelpURI              string `json:"helpUri"`
	DefaultConfiguration struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties struct {
		Precision       string   `json:"precision"`
		ProblemSeverity string   `json:"problem.severity"`
		Severity        string   `json:"security-severity"`
		Tags            []string `json:"tags"`
	} `json:"properties"`
}

type result struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           *int              `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             text              `json:"message"`
	Locations           []location        `json:"locations"`
	RelatedLocations    []location        `json:"relatedLocations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type location struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *struct {
			StartLine   int `json:"startLine"`
			StartColumn int `json:"startColumn"`
			EndLine     int `json:"endLine"`
			EndColumn   int `json:"endColumn"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

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
			c.hold(n.Message.Text != "", "a notification without text")
		}
	}
	for i, x := range d.Rules {
		c.rule(i, x, d.Rules)
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

func (c *checker) rule(i int, r rule, all []rule) {
	level := r.DefaultConfiguration.Level
	c.hold(r.ID != "", "rule %d has no id", i)
	c.hold(!slices.ContainsFunc(all[:i], func(o rule) bool { return o.ID == r.ID }), "rule %s occurs twice", r.ID)
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
}

func isLevel(s string) bool { return s == "error" || s == "warning" || s == "note" }

func (c *checker) result(r result, rules []rule) {
	c.hold(r.RuleIndex != nil && *r.RuleIndex >= 0 && *r.RuleIndex < len(rules) && rules[*r.RuleIndex].ID == r.RuleID,
		"ruleIndex does not lead to %q", r.RuleID)
	c.hold(isLevel(r.Level), "level is %q", r.Level)
	c.hold(r.Message.Text != "" && len([]rune(r.Message.Text)) <= maxText, "message of %d characters", len([]rune(r.Message.Text)))
	c.hold(len(r.Locations) == 1, "%d locations", len(r.Locations))
	c.hold(len(r.RelatedLocations) <= maxLocations, "%d related locations", len(r.RelatedLocations))
	for _, l := range slices.Concat(r.Locations, r.RelatedLocations) {
		c.location(l)
	}
	c.hold(len(r.PartialFingerprints["gpulint/v1"]) == 64, "no fingerprint gpulint/v1")
	if h, ok := r.PartialFingerprints["primaryLocationLineHash"]; ok {
		c.hold(h == r.PartialFingerprints["gpulint/v1"]+":1", "primaryLocationLineHash is %q", h)
	}
}

func (c *checker) location(l location) {
	uri := l.PhysicalLocation.ArtifactLocation.URI
	c.hold(relative(uri), "uri %q", uri)
	r := l.PhysicalLocation.Region
	c.hold(r != nil && r.StartLine >= 1 && r.StartColumn >= 1 && r.EndLine >= 1 && r.EndColumn >= 1, "region of %q", uri)
}

// relative says whether a URI is a relative path that nothing can take for a
// scheme, a host or a way out.
func relative(uri string) bool {
	first, _, _ := strings.Cut(uri, "/")
	if uri == "" || strings.HasPrefix(uri, "/") || strings.Contains(first, ":") || strings.Contains(uri, `\`) {
		return false
	}
	for _, part := range strings.Split(uri, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	for i := range len(uri) {
		switch c := uri[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>^`+"`{|}", c) >= 0:
			return false
		case c == '%':
			if i+2 >= len(uri) || !isHex(uri[i+1]) || !isHex(uri[i+2]) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
