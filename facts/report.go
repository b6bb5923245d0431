package facts

// SchemaReport names the version of the report.
const SchemaReport = "gpulint.dev/report/v1"

// Kinds of subjects.
const (
	KindImage    = "image"
	KindWorkload = "workload"
	KindNode     = "node"
	KindResource = "resource"
	KindConfig   = "config"
)

// Report is the outcome of a run, the value that every format renders.
type Report struct {
	Schema string `json:"schema"`
	// Tool is the version of gpulint and of its tables.
	Tool     Tool      `json:"tool"`
	Subjects []Subject `json:"subjects"`
	Targets  []Target  `json:"targets"`
	Verdicts []Verdict `json:"verdicts"`
	Findings []Finding `json:"findings"`
	// Failures are the inputs that could not be scanned.
	Failures []Failure `json:"failures,omitempty"`
	Summary  Summary   `json:"summary"`
	// Rules are the rules that ran, for formats that describe them.
	Rules []Rule `json:"-"`
}

// Tool names the program and the data behind a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Matrix is the version (date) of the compatibility tables.
	Matrix string `json:"matrix"`
}

// Subject is something that was judged.
type Subject struct {
	// ID is unique in the report.
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Ref  string `json:"ref"`
	// Name is the repository without tag and digest; it goes into fingerprints.
	Name     string `json:"name,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Platform string `json:"platform,omitempty"`
	// IndexPlatforms are all platforms of the index the image came from.
	IndexPlatforms []string `json:"index_platforms,omitempty"`
	// AbsentPlatforms are those of them whose images the archive does not hold.
	AbsentPlatforms []string `json:"absent_platforms,omitempty"`
	Verified        bool     `json:"verified"`
	// ImageKinds are what the content says the image is for, such as dcgm or
	// driver-container: files of the driver are expected there.
	ImageKinds []string `json:"image_kinds,omitempty"`
	Layers     []Layer  `json:"layers,omitempty"`
	Base       *Base    `json:"base,omitempty"`
	Needs      *Needs   `json:"needs,omitempty"`
}

// Failure is an input that could not be scanned, or not whole.
type Failure struct {
	Ref string `json:"ref"`
	// Message says what failed, where and why; Hint what to do.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Summary counts the findings.
type Summary struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Note    int `json:"note"`
	Ignored int `json:"ignored"`
	// Omitted is how many findings were left out of the list by its cap.
	Omitted int `json:"omitted,omitempty"`
}

// Rule is the description of a rule, from the METADATA of its policy.
type Rule struct {
	ID string `json:"id"`
	// Name is the kebab-case name.
	Name  string `json:"name"`
	Level string `json:"level"`
	Title string `json:"title"`
	Since string `json:"since"`
	// HelpURI is the rule's page.
	HelpURI string `json:"help_uri"`
	// Description says what the rule finds and why it matters.
	Description string `json:"description,omitempty"`
	// Predicts is what a user would see at run time.
	Predicts string `json:"predicts,omitempty"`
	Fix      string `json:"fix,omitempty"`
	// Before and After are an example of the fix.
	Before     string   `json:"before,omitempty"`
	After      string   `json:"after,omitempty"`
	References []string `json:"references,omitempty"`
	// Needs are the kinds of candidates that the rule reads.
	Needs []string `json:"needs,omitempty"`
}
