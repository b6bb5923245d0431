package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/gpulint/gpulint/facts"
)

// category is the ID of a run. What stands before its last slash is what
// GitHub calls a category: a new upload closes the alerts of the last one.
func category(name, platform string) string {
	id := toolName + "/" + slug(name) + "/"
	if platform != "" {
		id += slug(platform) + "/"
	}
	return id
}

// runID is the category of a subject, and notes it as taken. It is made of the
// repository, so that a new tag does not start a new set of alerts; a second
// image of the same repository and platform gets one of its own.
func runID(s facts.Subject, taken categories) string {
	return category(freeName(s, taken), s.Platform)
}

// categories are those that are taken, each with the last number given to one
// of its name.
type categories map[string]int

// freeName takes the name of a subject, with a number where its category is taken.
// It holds no digest, and the same call numbers the same way: a category that
// changed would leave its alerts open for ever.
func freeName(s facts.Subject, taken categories) string {
	name := either(s.Name, s.Ref)
	base := category(name, s.Platform)
	n, free, id := taken[base], name, base
	for taken[id] > 0 {
		n++
		free = fmt.Sprintf("%s-%d", name, n)
		id = category(free, s.Platform)
	}
	taken[base] = max(n, 1)
	taken[id] = max(taken[id], 1)
	return free
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// maxSlug bounds a name in categories and paths, in bytes.
const maxSlug = 200

var notSlug = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// slug turns a name or reference into relative path segments of plain
// characters.
func slug(name string) string {
	var parts []string
	for _, p := range strings.Split(name, "/") {
		p = strings.Trim(notSlug.ReplaceAllString(p, "-"), "-")
		if p != "" && p != "." && p != ".." {
			parts = append(parts, p)
		}
	}
	s := strings.Join(parts, "/")
	if s == "" {
		return "unnamed"
	}
	if len(s) > maxSlug {
		return strings.Trim(s[:maxSlug], "/-.") + "-" + shortHash(name)
	}
	return s
}

// run starts a run without results.
func (b *sarifBuilder) run(id string) sarifRun {
	version := semver(b.report.Tool.Version)
	driver := sarif.NewVersionedDriver(toolName, version).
		WithSemanticVersion(version).
		WithInformationURI(informationURI).
		WithRules([]*sarif.ReportingDescriptor{})
	run := sarif.NewRun(*sarif.NewTool(driver)).
		WithAutomationDetails(sarif.NewRunAutomationDetails().WithID(id)).
		WithColumnKind("utf16CodeUnits").
		WithInvocations([]*sarif.Invocation{sarif.NewInvocation().WithExecutionSuccess(true)})
	run.Properties = sarif.Properties{}
	if m := b.report.Tool.Matrix; m != "" {
		run.Properties["matrix"] = limit(m, maxText)
	}
	return sarifRun{Run: run, Results: []sarifResult{}}
}

// subjectRun is the run of one subject.
func (b *sarifBuilder) subjectRun(s facts.Subject, id string, fs []facts.Finding) sarifRun {
	run := b.run(id)
	run.Properties["subject"] = subjectProperties(s)
	if n := len(fs) - b.results; n > 0 {
		fs = fs[:b.results]
		notify(run, facts.Warning, fmt.Sprintf("%d results were left out, the least grave ones: this run holds %d.", n, b.results))
	}
	rules := newRules(b.report.Rules, fs)
	run.Tool.Driver.Rules = rules.descriptors
	p := placer{subject: s, anchor: b.o.Anchor}
	compared := comparedWithBaseline(b.report.Findings)
	for _, f := range fs {
		run.Results = append(run.Results, b.result(f, p, rules.index[ruleID(f)], compared))
	}
	return run
}

// failuresID is the category of what could not be scanned.
const failuresID = toolName + "/failures/"

// failedRun tells what could not be scanned. It has a category of its own, and
// so closes no alerts of images that an earlier upload saw.
func (b *sarifBuilder) failedRun(taken categories) sarifRun {
	id := failuresID
	if taken[id] > 0 { // by a subject of that name
		id = toolName + "/failures-" + shortHash(id) + "/"
	}
	run := b.run(id)
	run.Invocations[0].WithExecutionSuccess(false)
	for i, f := range b.report.Failures {
		if n := len(b.report.Failures) - i; i == maxNotifications {
			notify(run, facts.Error, fmt.Sprintf("%d more inputs could not be scanned.", n))
			break
		}
		text := f.Message
		if !strings.Contains(text, f.Ref) {
			text = strings.TrimSuffix(f.Ref+": "+text, ": ")
		}
		notify(run, facts.Error, sentences(limit(either(plain(text), "an input could not be scanned"), 700), limit(plain(f.Hint), 250)))
	}
	return run
}

// notify adds a notification to the invocation of a run.
func notify(run sarifRun, level, text string) {
	run.Invocations[0].AddTToolExecutionNotification(
		sarif.NewNotification().WithLevel(level).WithTextMessage(text))
}

func subjectProperties(s facts.Subject) map[string]any {
	p := map[string]any{"kind": s.Kind, "ref": limit(s.Ref, maxText), "verified": s.Verified}
	for key, value := range map[string]string{"name": s.Name, "digest": s.Digest, "platform": s.Platform} {
		if value != "" {
			p[key] = limit(value, maxText)
		}
	}
	return p
}

var semverPattern = regexp.MustCompile(
	`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// semver is a version that readers of SARIF can compare; anything else becomes
// a pre-release of nothing.
func semver(v string) string {
	v = strings.TrimPrefix(v, "v")
	if semverPattern.MatchString(v) && len(v) <= 100 {
		return v
	}
	label := strings.Trim(notSlug.ReplaceAllString(strings.ReplaceAll(v, ".", "-"), "-"), "-_")
	label = strings.ReplaceAll(label, "_", "-")
	if label == "" || len(label) > 50 {
		label = "dev"
	}
	return "0.0.0-" + label
}
