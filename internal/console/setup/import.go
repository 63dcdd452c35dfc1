package setup

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// importPage is the form for an exported chat, with the result of a dry run.
type importPage struct {
	Chat   names.Choice // an existing one, or the typed name of a new one
	Zone   string
	Order  bridge.DateOrder
	Dates  *bridge.AmbiguousDates // the possible orders
	Fault  frame.Problem          // of no field
	Wrong  map[string]string
	Curl   string
	Review *importReview // nil before the dry run
}

// importReview is the result of a dry run.
type importReview struct {
	bridge.Import
	Checked  bool           // by a dry run; otherwise it only has names
	Into     string         // the name of the chat
	IsNew    bool           // it will be made
	People   []importedName // names that need a person
	Nameless int            // number of unknown names without a field
	Another  *importedName  // a field for correcting a known name
}

// importedName is a name in the export whose person can be chosen.
type importedName struct {
	Name   string
	Person names.Choice
	IsMe   bool
}

const (
	maxImportNames = 200              // names that get a field
	importPause    = time.Second      // between two requests of a dry run
	dryRunTimeout  = 10 * time.Minute // for a dry run after the upload
)

// importWords has the labels of the API's fields.
var importWords = map[string]frame.Label{"chat": {Field: "chat", Label: "The chat"}, "timezone": {Field: "timezone", Label: "The time zone"}, "dateOrder": {Field: "order", Label: "Order of the date"}}

func mayImport(req *frame.Request) error {
	if req.Imports() {
		return nil
	}
	scope := bridge.ScopeManage
	if req.Token.Allows(scope) {
		scope = bridge.ScopeRead
	}
	return frame.LackingScope(scope)
}

// ShowImportForm shows the empty form, for a chat if the address names one.
func ShowImportForm(req *frame.Request) error {
	if err := mayImport(req); err != nil {
		return err
	}
	page := importPage{Zone: req.Clock().Zone.String()}
	if chat, err := bridge.ParseJID(req.URL.Query().Get("chat")); err == nil {
		page.Chat = names.ChoiceOf(req, chat)
	}
	return showImportFormWith(req, http.StatusOK, page)
}

func showImportFormWith(req *frame.Request, status int, page importPage) (err error) {
	if page.Review != nil && len(page.Review.People) < maxImportNames {
		page.Review.Another = new(importedName)
	}
	page.Curl = req.Curl("POST", "/api/imports", nil, "-F "+view.ShellQuoted("chat="+cmp.Or(page.chat(), "Old friends")), "-F "+view.ShellQuoted("file=@chat.zip"))
	return req.ShowAs(status, "import", "Import a chat", page)
}

// chat returns the chat as the API takes it.
func (p importPage) chat() string {
	if len(p.Chat.Chosen) > 0 {
		return string(p.Chat.Chosen[0].JID)
	}
	return p.Chat.Typed
}

// importFields lists the fields before the file.
var importFields = func() []string {
	fields := []string{"chat", "timezone", "order"}
	for i := range maxImportNames {
		fields = append(fields, importField("name", i), importField("person", i), importField("me", i))
	}
	return fields
}()

func importField(name string, i int) string { return fmt.Sprintf("%s-%d", name, i) }

// CheckImport shows the result of a dry run. The script sends the file again for the import.
func CheckImport(req *frame.Request) error {
	return takeExport(req, true, func(ctx context.Context, page importPage, found bridge.Import) (err error) {
		ctx, cancel := context.WithTimeout(ctx, dryRunTimeout)
		defer cancel()
		for found.State == bridge.ImportRunning && err == nil {
			if !bridge.Sleep(ctx, importPause) {
				return frame.Refused(http.StatusGatewayTimeout, "Checking the export took too long. Import it right away, or try again later.")
			}
			found, err = req.API.Import(ctx, found.ID)
		}
		if err != nil {
			return err
		}
		if found.Error != nil {
			page.Fault = req.ImportProblem(*found.Error)
			return showImportFormWith(req, http.StatusOK, page)
		}
		page.review(req, found)
		return showImportFormWith(req, http.StatusOK, page)
	})
}

// RunImport starts an import and redirects to its page.
func RunImport(req *frame.Request) error {
	return takeExport(req, false, func(_ context.Context, _ importPage, begun bridge.Import) error {
		http.Redirect(req.W, req.Request, view.Root+"/import/"+begun.ID, http.StatusSeeOther)
		return nil
	})
}

// takeExport passes an export to the API while it arrives, and calls next with the import.
func takeExport(req *frame.Request, dryRun bool, next func(context.Context, importPage, bridge.Import) error) error {
	if err := mayImport(req); err != nil {
		return err
	}
	fields, file, err := req.FileForm(importFields...)
	if err != nil {
		return err
	}
	f := frame.NewForm(fields)
	page, people, err := readImport(req, f)
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		f.Refuse("file", "Choose the file that the app has exported.")
	}
	if page.Wrong = f.Wrong; len(f.Wrong) > 0 {
		page.retain(people)
		return showImportFormWith(req, http.StatusBadRequest, page)
	}
	ctx, end := req.UntilLoggedOut()
	defer end()
	export := client.ChatExport{Chat: page.chat(), Timezone: page.Zone, DateOrder: page.Order, DryRun: dryRun, Async: !dryRun, FileName: file.FileName()}
	if export.Names, err = personsOf(req, people); err != nil {
		return err
	}
	begun, err := req.API.ImportChat(ctx, export, file)
	if err != nil {
		return notImported(req, page, people, f, err)
	}
	page.Review = &importReview{People: people}
	return next(ctx, page, begun)
}

// readImport reads the fields before the file, with the chosen people of names.
func readImport(req *frame.Request, f *frame.Form) (page importPage, people []importedName, err error) {
	page = importPage{Zone: strings.TrimSpace(f.Get("timezone")), Order: bridge.DateOrder(f.Get("order"))}
	if page.Chat, err = importInto(req, f); err != nil {
		return page, nil, err
	}
	for i := range maxImportNames {
		name := importedName{Name: f.Get(importField("name", i)), IsMe: f.Get(importField("me", i)) != ""}
		if name.Person, err = names.ChooseOne(req, f, importField("person", i)); err != nil {
			return page, nil, err
		}
		if name.Name == "" {
			if name.IsMe || len(name.Person.Chosen) > 0 {
				return page, nil, frame.Refused(http.StatusBadRequest, "Enter the name that you want to correct, as it is in the export.")
			}
			break
		}
		people = append(people, name)
	}
	return page, people, nil
}

// importInto reads the chat to import into. A text that matches no chat is the name of a new one.
func importInto(req *frame.Request, f *frame.Form) (names.Choice, error) {
	asked := frame.NewForm(f.Values)
	chosen, err := names.ChooseOne(req, asked, "chat")
	if err == nil && chosen.Typed == "" && len(chosen.Chosen) == 0 {
		f.Refuse("chat", "Choose a chat, or enter a name for a new one.")
	}
	return chosen, err
}

// personsOf returns the chosen people by name.
func personsOf(req *frame.Request, people []importedName) (map[string]bridge.JID, error) {
	persons := make(map[string]bridge.JID)
	for _, one := range people {
		switch {
		case one.IsMe:
			me, err := names.Me(req)
			if err != nil {
				return nil, err
			}
			if me == "" {
				return nil, frame.Refused(http.StatusBadRequest, "No account is linked, so the bridge doesn’t know who you are. Choose your own number instead.")
			}
			persons[one.Name] = me
		case len(one.Person.Chosen) > 0:
			persons[one.Name] = one.Person.Chosen[0].JID
		}
	}
	return persons, nil
}

// notImported shows the form again with the refusal.
func notImported(req *frame.Request, page importPage, people []importedName, f *frame.Form, refused error) error {
	status, err := req.Refusal(f, refused, importWords)
	if err != nil {
		return err
	}
	if notice := req.TakeNotice(); notice != nil {
		page.Fault = frame.Problem{Text: notice.Text, Details: notice.Details}
	}
	if known := refusedDates(refused); known != nil {
		page.Dates, page.Fault = known, frame.Problem{}
	}
	page.Wrong = f.Wrong
	page.retain(people)
	return showImportFormWith(req, status, page)
}

// retain retains the names of a review for the next attempt.
func (p *importPage) retain(people []importedName) {
	if len(people) > 0 {
		p.Review = &importReview{People: people}
	}
}

// review shows the result of a dry run. Names with a chosen person stay in the form.
func (p *importPage) review(req *frame.Request, found bridge.Import) {
	r := p.Review
	r.Import, r.Checked = found, true
	r.People = slices.DeleteFunc(r.People, func(one importedName) bool { return !one.IsMe && len(one.Person.Chosen) == 0 })
	for _, name := range found.UnknownNames {
		r.People = append(r.People, importedName{Name: name})
	}
	r.Nameless = max(len(r.People)-maxImportNames, 0)
	r.People = r.People[:len(r.People)-r.Nameless]
	r.IsNew = len(p.Chat.Chosen) == 0
	if r.Into = p.Chat.Typed; !r.IsNew {
		r.Into = p.Chat.Chosen[0].Name
	}
}
