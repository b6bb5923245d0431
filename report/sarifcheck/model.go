package sarifcheck

// log is what of a SARIF file is looked at.
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
	ID               int  `json:"id"`
	Message          text `json:"message"`
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
