package transcribe

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// languageNames are the languages that Whisper knows, by code and name. Services answer with
// either.
const languageNames = `af afrikaans,am amharic,ar arabic,as assamese,az azerbaijani,ba bashkir,be belarusian,bg bulgarian,bn bengali,
bo tibetan,br breton,bs bosnian,ca catalan,cs czech,cy welsh,da danish,de german,el greek,en english,es spanish,et estonian,eu basque,
fa persian,fi finnish,fo faroese,fr french,gl galician,gu gujarati,ha hausa,haw hawaiian,he hebrew,hi hindi,hr croatian,
ht haitian creole,hu hungarian,hy armenian,id indonesian,is icelandic,it italian,ja japanese,jw javanese,ka georgian,kk kazakh,km khmer,
kn kannada,ko korean,la latin,lb luxembourgish,ln lingala,lo lao,lt lithuanian,lv latvian,mg malagasy,mi maori,mk macedonian,
ml malayalam,mn mongolian,mr marathi,ms malay,mt maltese,my myanmar,ne nepali,nl dutch,nn nynorsk,no norwegian,oc occitan,pa punjabi,
pl polish,ps pashto,pt portuguese,ro romanian,ru russian,sa sanskrit,sd sindhi,si sinhala,sk slovak,sl slovenian,sn shona,so somali,
sq albanian,sr serbian,su sundanese,sv swedish,sw swahili,ta tamil,te telugu,tg tajik,th thai,tk turkmen,tl tagalog,tr turkish,tt tatar,
uk ukrainian,ur urdu,uz uzbek,vi vietnamese,yi yiddish,yo yoruba,yue cantonese,zh chinese`

var languageCodes = sync.OnceValue(func() map[string]string {
	codes := make(map[string]string)
	for language := range strings.SplitSeq(languageNames, ",") {
		code, name, _ := strings.Cut(strings.TrimSpace(language), " ")
		codes[name] = code
	}
	return codes
})

// isCode matches language codes: ISO 639, with subtags of BCP 47.
var isCode = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$`)

// languageCode returns the code of a language that a service reports as a code or a name, or ""
// if it is neither.
func languageCode(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if code, known := languageCodes()[name]; known {
		return code
	}
	if !isCode.MatchString(name) {
		return ""
	}
	return name
}

// shortText is a short string in an answer. Values that are not a string, or longer than any
// name, become empty without using memory.
type shortText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *shortText) UnmarshalJSON(data []byte) error {
	*t = ""
	if len(data) > 100 || data[0] != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}
