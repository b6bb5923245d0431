package report

import (
	"fmt"
	"strings"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/gpulint/gpulint/facts"
)

// placer finds where the results of one subject are shown.
type placer struct {
	subject facts.Subject
	anchor  string
}

// primary is the one location of a result, whether it is a file of the user's
// repository, and which evidence it shows: a line of a Dockerfile or manifest,
// else the anchor, else the path inside the image, else the image's name.
func (p placer) primary(f facts.Finding) (l *sarif.Location, inRepository bool, shown int) {
	for i, e := range f.Evidence {
		if e.Source != nil && e.Source.File != "" {
			return p.location(sourceURI(e.Source.File), e.Source.Line, e.Source.Column, p.logical(e.Path)), true, i
		}
	}
	path := ""
	if len(f.Evidence) > 0 {
		path = f.Evidence[0].Path
	}
	if p.anchor != "" {
		return p.location(sourceURI(p.anchor), 1, 1, p.logical(path)), true, 0
	}
	return p.location(p.imageURI(path), 1, 1, p.logical(path)), false, 0
}

// related is a further place that a finding rests on.
func (p placer) related(id int, e facts.Evidence) *sarif.Location {
	uri, line, column, text := p.imageURI(e.Path), 1, 1, plain(evidenceText(e))
	if e.Source != nil && e.Source.File != "" {
		uri, line, column = sourceURI(e.Source.File), e.Source.Line, e.Source.Column
		text = either(text, plain(sourceText(*e.Source)))
	}
	return p.location(uri, line, column, p.logical(e.Path)).
		WithId(id).
		WithMessage(sarif.NewTextMessage(limit(either(text, "evidence"), maxText)))
}

func (p placer) location(uri string, line, column int, logical *sarif.LogicalLocation) *sarif.Location {
	line, column = max(line, 1), max(column, 1)
	region := sarif.NewRegion().WithStartLine(line).WithStartColumn(column).WithEndLine(line).WithEndColumn(column + 1)
	return sarif.NewLocation().
		WithPhysicalLocation(sarif.NewPhysicalLocation().
			WithArtifactLocation(sarif.NewArtifactLocation().WithUri(uri)).
			WithRegion(region)).
		WithLogicalLocations([]*sarif.LogicalLocation{logical})
}

// logical names a path inside the image, or the image.
func (p placer) logical(path string) *sarif.LogicalLocation {
	name := either(limit(visible(path), maxText), limit(visible(p.subject.Ref), maxText))
	full := limit(visible(p.subject.ID), maxText)
	if path != "" {
		full += "/" + limit(visible(path), maxText)
	}
	return sarif.NewLogicalLocation().WithName(either(name, "unnamed")).WithFullyQualifiedName(full).WithKind("resource")
}

// imageURI is a path inside the image as a relative URI.
func (p placer) imageURI(path string) string {
	if uri := relativeURI(path); uri != "" {
		return uri
	}
	return relativeURI(slug(either(p.subject.Name, either(p.subject.Ref, p.subject.ID))))
}

// sourceURI is a file of the repository as a relative URI.
func sourceURI(file string) string {
	return either(relativeURI(strings.ReplaceAll(file, `\`, "/")), "unnamed")
}

// maxURI bounds a URI in bytes: GitHub takes no longer ones.
const maxURI = 2000

// relativeURI encodes a path. Names from images may look like a scheme
// (debian:12/x) or climb (../x): neither is left in it.
func relativeURI(path string) string {
	var parts []string
	for _, part := range strings.Split(path, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, encodeSegment(part))
		}
	}
	uri := strings.Join(parts, "/")
	if len(uri) > maxURI {
		// Cut at a segment, or where there is none take the hash alone.
		head := uri[:maxURI]
		head = head[:strings.LastIndexByte("/"+head, '/')]
		uri = strings.TrimSuffix(head, "/") + "/" + shortHash(path)
		uri = strings.TrimPrefix(uri, "/")
	}
	return uri
}

// encodeSegment percent-encodes all but the characters that mean themselves
// everywhere in a URI.
func encodeSegment(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~+@=,", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
