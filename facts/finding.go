package facts

// Levels of a finding, SARIF's words.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
	None    = "none"
)

// Statuses of a finding.
const (
	StatusActive   = "active"
	StatusIgnored  = "ignored"
	StatusBaseline = "baseline"
)

// Finding is one thing that a rule found in one subject.
type Finding struct {
	// Subject is the ID of the subject.
	Subject string `json:"subject"`
	Rule    string `json:"rule"`
	// Name is the rule's kebab-case name.
	Name    string `json:"name"`
	Level   string `json:"level"`
	Message string `json:"message"`
	// Targets are the names of the targets that it concerns; empty where it
	// concerns all.
	Targets     []string   `json:"targets"`
	Predicted   *Predicted `json:"predicted,omitempty"`
	Evidence    []Evidence `json:"evidence"`
	Fix         string     `json:"fix,omitempty"`
	HelpURI     string     `json:"help_uri,omitempty"`
	Fingerprint string     `json:"fingerprint"`
	Status      string     `json:"status"`
	// Reason is why the finding is ignored.
	Reason string `json:"reason,omitempty"`
	// Key is the thing found, normalised: what the fingerprint is made of
	// beside rule and name.
	Key string `json:"-"`
}

// Predicted is what a user would see at run time.
type Predicted struct {
	// Code is the CUDA error number, 0 where the failure has none.
	Code int    `json:"code,omitempty"`
	Text string `json:"text"`
}

// Evidence is one place that a finding rests on.
type Evidence struct {
	Path string `json:"path,omitempty"`
	// Layer is the layer that brought the path; null for a root directory and
	// for evidence that no layer holds, such as the configuration.
	Layer *LayerRef `json:"layer" jsonschema:"nullable"`
	// Package is the package that owns the path, as name and version.
	Package string `json:"package,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Source is the place in a file of the user's: a Dockerfile or manifest.
	Source *SourceRef `json:"source,omitempty"`
}

// LayerRef is a layer as evidence shows it.
type LayerRef struct {
	Index     int    `json:"index"`
	Digest    string `json:"digest,omitempty"`
	DiffID    string `json:"diff_id,omitempty"`
	Size      int64  `json:"size"`
	CreatedBy string `json:"created_by,omitempty"`
	// Origin is base or image; empty where it is not known.
	Origin string `json:"origin,omitempty"`
}

// SourceRef is a place in a file of the user's, counted from 1.
type SourceRef struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}
