package report

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

// schemaNode is what the tests read of a part of the schema.
type schemaNode struct {
	ID         string                `json:"$id"`
	Dialect    string                `json:"$schema"`
	Ref        string                `json:"$ref"`
	Properties map[string]schemaNode `json:"properties"`
	Required   []string              `json:"required"`
	Additional *bool                 `json:"additionalProperties"`
	Items      *schemaNode           `json:"items"`
	OneOf      []schemaNode          `json:"oneOf"`
	Enum       []string              `json:"enum"`
	Defs       map[string]schemaNode `json:"$defs"`
}

// TestSchemaMatchesTypes holds that schema and types name the same properties,
// and the same as required: a new field needs a new line in the schema.
func TestSchemaMatchesTypes(t *testing.T) {
	t.Parallel()
	var root schemaNode
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	if root.ID != "https://gpulint.dev/schema/report/v1.json" || root.Dialect != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$id %s, $schema %s", root.ID, root.Dialect)
	}
	used := map[string]bool{}
	compare(t, "report", reflect.TypeFor[document](), root, root.Defs, used)
	for name := range root.Defs {
		if !used[name] {
			t.Errorf("nothing refers to %s", name)
		}
	}
	finding, verdict, subject := root.Defs["finding"].Properties, root.Defs["verdict"].Properties, root.Defs["subject"].Properties
	for _, e := range []struct {
		got  schemaNode
		want []string
	}{
		{finding["level"], []string{facts.Error, facts.Warning, facts.Note}},
		{finding["status"], []string{facts.StatusActive, facts.StatusIgnored, facts.StatusBaseline}},
		{verdict["level"], []string{facts.LevelNative, facts.LevelMinor, facts.LevelForward, facts.LevelIncompatible, facts.LevelUnknown}},
		{subject["kind"], []string{facts.KindImage, facts.KindWorkload, facts.KindNode, facts.KindResource, facts.KindConfig}},
		{root.Defs["target"].Properties["runtime"], facts.Modes()},
	} {
		if !slices.Equal(e.got.Enum, e.want) {
			t.Errorf("enum %v, want %v", e.got.Enum, e.want)
		}
	}
}

// compare walks a type and its schema side by side.
func compare(t *testing.T, at string, typ reflect.Type, n schemaNode, defs map[string]schemaNode, used map[string]bool) {
	t.Helper()
	if len(n.OneOf) == 2 { // null or an object
		n = n.OneOf[1]
	}
	if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
		n, used[name] = defs[name], true
	}
	switch typ.Kind() {
	case reflect.Pointer:
		compare(t, at, typ.Elem(), n, defs, used)
		return
	case reflect.Slice:
		if n.Items == nil {
			t.Errorf("%s has no items in the schema", at)
			return
		}
		compare(t, at+"[]", typ.Elem(), *n.Items, defs, used)
		return
	case reflect.Struct:
	default:
		return
	}
	if n.Additional == nil || *n.Additional {
		t.Errorf("%s allows properties that it does not name", at)
	}
	var required []string
	names := map[string]bool{}
	for name, f := range fields(typ) {
		names[name] = true
		if !strings.Contains(f.Tag.Get("json"), ",omitempty") {
			required = append(required, name)
		}
		p, ok := n.Properties[name]
		if !ok {
			t.Errorf("%s: the schema has no property %s", at, name)
			continue
		}
		compare(t, at+"."+name, f.Type, p, defs, used)
	}
	for name := range n.Properties {
		if !names[name] {
			t.Errorf("%s: no field is written as %s", at, name)
		}
	}
	slices.Sort(required)
	if got := slices.Sorted(slices.Values(n.Required)); !slices.Equal(got, required) {
		t.Errorf("%s: required %v, want %v", at, got, required)
	}
}

// fields lists the fields of a struct as JSON names them; as in JSON, those of
// the struct itself win over those of what it embeds.
func fields(typ reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out[name] = f
		}
	}
	for i := range typ.NumField() {
		if f := typ.Field(i); f.Anonymous {
			for name, inner := range fields(f.Type.Elem()) {
				if _, ok := out[name]; !ok {
					out[name] = inner
				}
			}
		}
	}
	return out
}
