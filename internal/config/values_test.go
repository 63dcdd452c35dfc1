package config

import (
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// with returns an environment that starts but for what is added.
func with(settings ...string) []string {
	return append([]string{"BRIDGE_TOKEN=a-token-of-the-tests-0123456789"}, settings...)
}

func TestConfig_TimesOfDay(t *testing.T) {
	for written, want := range map[string]string{"": "03:30", "00:00": "00:00", " 23:59 ": "23:59", "4:05": "04:05"} {
		if c, err := Read(with("BACKUP_AT=" + written)); err != nil || c.BackupAt.String() != want {
			t.Errorf("%q: %v, %v, want %v", written, c.BackupAt, err, want)
		}
	}
	for _, written := range []string{"24:00", "3", "3:5", "03:30:00", "03.30", "3 am", "-1:00", "noon"} {
		if _, err := Read(with("BACKUP_AT=" + written)); err == nil || !strings.Contains(err.Error(), "BACKUP_AT is not understood: it must be a time of day from 00:00 to 23:59, such as 03:30") {
			t.Errorf("%q: %v", written, err)
		}
	}
	for _, setting := range []string{"BACKUP_KEEP=-1", "BACKUP_DIR=data/"} {
		if _, err := Read(with("DATA_DIR=./data", setting)); err == nil || !strings.HasPrefix(err.Error(), setting[:10]) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestConfig_DurationsAsPeopleWriteThem(t *testing.T) {
	for written, want := range map[string]time.Duration{
		"0": 0, "30d": 30 * day, "2w": 14 * day, "1w2d3h": 9*day + 3*time.Hour, "6mo": 180 * day, "1y6mo5m": 545*day + 5*time.Minute, "1d90s": day + 90*time.Second, "720h": 30 * day, " 5m ": 5 * time.Minute,
	} {
		if c, err := Read(with("EVENTS_MAX_AGE=" + written)); err != nil || c.EventsMaxAge != want {
			t.Errorf("%q: %v, %v, want %v", written, c.EventsMaxAge, err, want)
		}
	}
	for written, sentence := range map[string]string{
		"fast":         "EVENTS_MAX_AGE is not understood: it must be a duration such as 60s, 5m, 12h or 30d",
		"30":           "a duration such as",
		"30 days":      "a duration such as",
		"2 Weeks":      "a duration such as",
		"5min":         "a duration such as",
		"3 months":     "a duration such as",
		"30D":          "a duration such as",
		"d":            "a duration such as",
		"1d-1h":        "a duration such as",
		"1d+1h":        "a duration such as",
		"99999w":       "a duration such as",
		"99999d99999w": "a duration such as",
	} {
		if _, err := Read(with("EVENTS_MAX_AGE=" + written)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q: %v, want %q", written, err, sentence)
		}
	}
}

func TestConfig_DaysAsPeopleWriteThem(t *testing.T) {
	for written, want := range map[string]Days{"0": 0, "30": 30, "30d": 30, "4w": 28, "720h": 30} {
		if c, err := Read(with("RETENTION_DAYS=" + written)); err != nil || c.RetentionDays != want {
			t.Errorf("%q: %v, %v, want %v", written, c.RetentionDays, err, want)
		}
	}
	for written, sentence := range map[string]string{
		"many": "RETENTION_DAYS is not understood: it must be a number of days, such as 30 or 30d", "30 days": "a number of days, such as 30 or 30d",
		"36h": "it must be a whole number of days", "-30d": "it must be a number of days",
	} {
		if _, err := Read(with("RETENTION_DAYS=" + written)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q: %v, want %q", written, err, sentence)
		}
	}
}

func TestConfig_SizesAsPeopleWriteThem(t *testing.T) {
	for written, want := range map[string]Size{
		"1": 1, "104857600": 100 << 20, "100MB": 100e6, "100 mb": 100e6, "1GB": 1e9, "1.5GB": 15e8, "512MiB": 512 << 20, "64M": 64 << 20, "2G": 2 << 30, "1TiB": 1 << 40, "10B": 10,
	} {
		if c, err := Read(with("MEDIA_MAX_BYTES=" + written)); err != nil || c.MediaMaxBytes != want {
			t.Errorf("%q: %v, %v, want %v", written, c.MediaMaxBytes, err, want)
		}
	}
	for written, sentence := range map[string]string{
		"many": "MEDIA_MAX_BYTES is not understood: it must be a number of bytes, such as 104857600, or a size such as 100MB", "100,000,000": "a number of bytes",
		"1MBit": "a number of bytes", "0foo": "a number of bytes", "MB": "a number of bytes", "9999999TB": "a number of bytes", "nan": "a number of bytes", "inf": "a number of bytes",
	} {
		if _, err := Read(with("MEDIA_MAX_BYTES=" + written)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q: %v, want %q", written, err, sentence)
		}
	}
}

func TestConfig_SwitchesAsPeopleWriteThem(t *testing.T) {
	for written, want := range map[string]bool{"true": true, "YES": true, "on": true, "1": true, "": false, "false": false, "No": false, "off": false, "0": false} {
		if c, err := Read(with("ENABLE_SEND=" + written)); err != nil || c.EnableSend != want {
			t.Errorf("%q: %v, %v, want %v", written, c.EnableSend, err, want)
		}
	}
	for written, sentence := range map[string]string{"ture": "it must be true or false", "maybe": "ENABLE_SEND is not understood: it must be true or false"} {
		if _, err := Read(with("ENABLE_SEND=" + written)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q: %v, want %q", written, err, sentence)
		}
	}
}

func TestConfig_PhoneNumberAsPeopleWriteIt(t *testing.T) {
	for written, want := range map[string]string{"": "", " ": "", "15551234567": "15551234567", "+1 555 123-4567": "15551234567", "0049 (1510) 000.001": "491510000001"} {
		if c, err := Read(with("PHONE_NUMBER=" + written)); err != nil || c.PhoneNumber != want {
			t.Errorf("%q: %q, %v, want %q", written, c.PhoneNumber, err, want)
		}
	}
}

func TestConfig_SaysWhatAValueMustBe(t *testing.T) {
	for setting, sentence := range map[string]string{
		"LISTEN_ADDR=8080":               "LISTEN_ADDR must be host:port, such as 127.0.0.1:8080",
		"LISTEN_ADDR=localhost":          "LISTEN_ADDR must be host:port",
		"LISTEN_ADDR=127.0.0.1:99999":    "LISTEN_ADDR must be host:port",
		"LOG_LEVEL=warning":              "LOG_LEVEL must be trace, debug, info, warn or error",
		"LOG_LEVEL=dbug":                 "LOG_LEVEL must be trace, debug, info, warn or error",
		"WEBHOOK_EVENTS=message.create":  "WEBHOOK_EVENTS must be of message.created",
		"EVENTS_MAX_COUNT=1_000_000":     "it must be a number",
		"PHONE_NUMBER=0151 000 0001":     "PHONE_NUMBER must begin with the country code",
		"PHONE_NUMBER=call me":           "PHONE_NUMBER must be a phone number",
		"PHONE_NUMBER=+1234567890123456": "PHONE_NUMBER must have 7 to 15 E.164 digits",
	} {
		if _, err := Read(with(setting)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%s: %v, want %q", setting, err, sentence)
		}
	}
}

func TestMisspellings(t *testing.T) {
	environ := []string{
		"BRIDGE_TOKENS=x", "ENABLE_SENDING=true", "enable_send=true", "DATADIR=x", "PHONE-NUMBER=1", "WEBOHOK_URL=x", "RETENTION_DAY=3",
		"BRIDGE_TOKEN=x", "BRIDGE_TOKEN_FILE=x", "PATH=x", "HOME=x", "HTTP_PROXY=x", "TERM=x", "LOGNAME=x", "XDG_DATA_DIRS=x", "TZ=x", "LANG=x", "DATA_SOURCE=x", "WEBHOOK_URL_NOTE=x",
	}
	want := [][2]string{
		{"BRIDGE_TOKENS", "BRIDGE_TOKEN"},
		{"DATADIR", "DATA_DIR"},
		{"ENABLE_SENDING", "ENABLE_SEND"},
		{"PHONE-NUMBER", "PHONE_NUMBER"},
		{"RETENTION_DAY", "RETENTION_DAYS"},
		{"WEBOHOK_URL", "WEBHOOK_URL"},
		{"enable_send", "ENABLE_SEND"},
	}
	got := misspellings(environ)
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i][0]+" is set") || !strings.HasSuffix(got[i], "did you mean "+want[i][1]+"?") {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
	_, err := Read([]string{"BRIDGE_TOKENS=a-token-of-the-tests-0123456789"})
	if err == nil || !strings.Contains(err.Error(), "BRIDGE_TOKENS is set, but not a variable of bridged: did you mean BRIDGE_TOKEN?") {
		t.Errorf("beside the fault: %v", err)
	}
}

func TestConfig_HistoryImport(t *testing.T) {
	for written, want := range map[string]bridge.HistoryImport{
		"off": "off", "Recent": "recent", " full ": "full", "1y": "365d", "6mo": "180d", "90d": "90d", "1y6mo2w1d": "560d", "720h": "30d", "10y": "3650d",
	} {
		if c, err := Read(with("HISTORY_IMPORT=" + written)); err != nil || c.HistoryImport != want {
			t.Errorf("%q: %q, %v, want %q", written, c.HistoryImport, err, want)
		}
	}
	for written, sentence := range map[string]string{
		"all":      "HISTORY_IMPORT is not understood: it must be off, recent, full, or how far back, such as 1y, 6mo or 90d",
		"recnt":    "it must be off, recent, full",
		"30":       "it must be off, recent, full",
		"6 months": "it must be off, recent, full",
		"2 years":  "it must be off, recent, full",
		"12h":      "whole days, at most 3650",
		"36h":      "whole days, at most 3650",
		"11y":      "whole days, at most 3650",
		"0":        "whole days, at most 3650",
	} {
		if _, err := Read(with("HISTORY_IMPORT=" + written)); err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%q: %v, want %q", written, err, sentence)
		}
	}
}
