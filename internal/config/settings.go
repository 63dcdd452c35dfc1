package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Setting is a variable with its effective value.
type Setting struct {
	Name      string
	Value     string
	IsDefault bool
}

// Settings lists the variables with their effective values. For a secret it only says whether it
// is set. URLs have neither user nor password.
func (c Config) Settings() (list []Setting) {
	defaults, _ := parse(nil) // faults of missing variables do not matter here
	values, usual := reflect.ValueOf(c), reflect.ValueOf(defaults)
	for field := range reflect.TypeFor[Config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			value := settingText(values.FieldByIndex(field.Index))
			list = append(list, Setting{Name: name, Value: shownSetting(name, value), IsDefault: value == settingText(usual.FieldByIndex(field.Index))})
		}
	}
	return list
}

// settingText returns a value in the form of the environment.
func settingText(value reflect.Value) string {
	if d, ok := value.Interface().(time.Duration); ok {
		return durationText(d)
	}
	return fmt.Sprint(value.Interface())
}

func shownSetting(name, text string) string {
	switch {
	case text == "", text == "true", text == "false": // no secret is a switch
		return text
	case isSecret(name):
		return "set"
	case strings.HasSuffix(name, "_URL"):
		return withoutSecrets(text)
	}
	return text
}

// isSecret reports whether the value of a variable is never shown.
func isSecret(name string) bool {
	return slices.ContainsFunc([]string{"_TOKEN", "_SECRET", "_KEY"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// withoutSecrets returns URLs without user, password and path. The path of a webhook's URL may be
// a secret. A text without a host becomes "set".
func withoutSecrets(list string) string {
	addresses := strings.Split(list, ",")
	for i, address := range addresses {
		at, err := url.Parse(strings.TrimSpace(address))
		if err != nil || at.Host == "" {
			addresses[i] = "set"
			continue
		}
		addresses[i] = at.Scheme + "://" + at.Host
		if strings.Trim(at.Path, "/") != "" || at.RawQuery != "" {
			addresses[i] += "/…"
		}
	}
	return strings.Join(addresses, ", ")
}
