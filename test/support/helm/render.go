// Renders a chart as Helm does: Go's templates with Sprig's functions. `render <chart> <values.json>` prints a JSON object of the texts by name;
// values lie over those of the chart. Needs Debian's golang-go, golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	stop(err)
	values := map[string]interface{}{}
	stop(yaml.Unmarshal(text, &values))
	return values
}

func merged(base, over map[string]interface{}) map[string]interface{} {
	for name, value := range over {
		below, isMap := base[name].(map[string]interface{})
		above, isMapToo := value.(map[string]interface{})
		if isMap && isMapToo {
			base[name] = merged(below, above)
		} else {
			base[name] = value
		}
	}
	return base
}

func main() {
	folder := os.Args[1]
	chart := read(filepath.Join(folder, "Chart.yaml"))
	values := merged(read(filepath.Join(folder, "values.yaml")), read(os.Args[2]))
	all := template.New("all").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		err := encoder.Encode(value)
		return strings.TrimSuffix(out.String(), "\n"), err
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	stop(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		stop(err)
		_, err = all.New("gateway/templates/" + filepath.Base(file)).Parse(string(text))
		stop(err)
	}
	context := map[string]interface{}{
		"Values":   values,
		"Chart":    map[string]interface{}{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release":  map[string]interface{}{"Name": "test", "Namespace": "ai", "Service": "Helm"},
		"Template": map[string]interface{}{"BasePath": "gateway/templates"},
	}
	texts := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var out bytes.Buffer
		stop(all.ExecuteTemplate(&out, "gateway/templates/"+name, context))
		texts[name] = out.String()
	}
	stop(json.NewEncoder(os.Stdout).Encode(texts))
}
