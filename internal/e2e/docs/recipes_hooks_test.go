package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/oasdiff/yaml"

	. "bridged/internal/e2e/harness"
)

// What the page shows for Alertmanager has the fields that it documents of a receiver. The
// commands of the page are run by TestDocs_ExamplesRunAsPrinted.
func TestRecipes_AlertmanagerReadsItsReceiver(t *testing.T) {
	t.Parallel()
	page := Must(os.ReadFile("../../../integrations/recipes.md"))(t)
	block := regexp.MustCompile("(?ms)^```yaml\n(receivers:.*?)^```$").FindSubmatch(page)
	if block == nil {
		t.Fatal("integrations/recipes.md has no receiver")
	}
	var config struct {
		Receivers []struct {
			Name     string
			Webhooks []struct {
				URLFile      string `json:"url_file"`
				SendResolved bool   `json:"send_resolved"`
				HTTP         struct {
					Authorization struct {
						CredentialsFile string `json:"credentials_file"`
					}
				} `json:"http_config"`
			} `json:"webhook_configs"`
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(Must(yaml.YAMLToJSON(block[1]))(t)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	if to := config.Receivers[0].Webhooks[0]; to.URLFile == "" || !to.SendResolved || to.HTTP.Authorization.CredentialsFile == "" {
		t.Errorf("the receiver is %+v", to)
	}
}
