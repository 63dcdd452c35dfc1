package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// language describes how to make up messages. Its words are the seeds, the most
// common first, and many more with the seeds' pairs of letters, so that letters
// follow each other as unevenly as in the real language.
type language struct {
	name    string
	weight  int  // in 100 messages
	spaces  bool // between words
	cased   bool
	seeds   string
	absent  []string // rare letters of the script that never occur side by side
	special unicode.SpecialCase
}

var languages = []language{
	{
		name: "English", weight: 30, spaces: true, cased: true, absent: []string{"zqxj", "qjzv", "xqkz"},
		seeds: "the you and that have for not with this but what are can was will about just when know there your get like time how out all now come good see tomorrow where really think going back great thanks please tonight meeting message station because someone weekend nothing everything understand remember beautiful question",
	},
	{
		name: "German", weight: 10, spaces: true, cased: true, absent: []string{"qxßj", "yqxß"},
		seeds: "ich und die der nicht das ist du wir mit auf auch noch für schon aber dann wenn heute morgen straße groß grüße weiß schön müssen können über größer spaß fußball natürlich vielleicht frühstück bahnhof wohnung nachricht zusammen eigentlich wochenende geburtstag",
	},
	{
		name: "French", weight: 6, spaces: true, cased: true, absent: []string{"wxkq", "zwkÿ"},
		seeds: "je de est pas le vous la tu que un il et à ne les ce en une ça être déjà très même après français école garçon élève forêt bientôt peut toujours demain merci beaucoup rendez maintenant aujourd quelque dimanche préféré",
	},
	{
		name: "Spanish", weight: 8, spaces: true, cased: true, absent: []string{"wkñx", "xkwñ"},
		seeds: "que de no la el es y en lo un por qué me una te los se con para mi está si bien pero yo año mañana niño también aquí después señor corazón hola gracias porque siempre ahora entonces trabajo película semana cumpleaños",
	},
	{
		name: "Turkish", weight: 5, spaces: true, cased: true, absent: []string{"ğjıv", "jğvı"}, special: unicode.TurkishCase,
		seeds: "bir bu ne ve için çok ben sen değil iyi var mı evet nasıl gibi şey daha kadar istanbul izmir ılık kızım güneş ağaç çiçek gözlük akşam yarın teşekkür günaydın arkadaş biliyorum istiyorum ışık ırmak sınıf şimdi öğretmen",
	},
	{
		name: "Greek", weight: 4, spaces: true, cased: true, absent: []string{"ψξζφ", "ζψβξ"},
		seeds: "να το και δεν είναι με θα την για που μου τον στο της σας τι από μας πολύ καλά εδώ αυτό σήμερα αύριο θέλω ξέρω καλημέρα ευχαριστώ δρόμος κόσμος φίλος λόγος σπίτι δουλειά θάλασσα μήνυμα",
	},
	{
		name: "Russian", weight: 10, spaces: true, cased: true, absent: []string{"ъэщю", "щъфэ"},
		seeds: "я не что в и ты это на с он как мы да но нет меня тебя все так хорошо сегодня завтра спасибо сейчас можно очень когда потом здесь человек время сказать думаю привет пожалуйста вечером работа ещё вокзал сообщение",
	},
	{
		name: "Arabic", weight: 6, spaces: true, absent: []string{"ظغثض", "ثظذغ"},
		seeds: "في من على أن هذا ما لا إلى كان مع هل كل أنا أنت شكرا اليوم غدا جدا حسنا كيف الحال السلام عليكم مرحبا صديقي البيت العمل الوقت الآن بعد قبل لماذا الرسالة المدينة",
	},
	{
		name: "Hebrew", weight: 3, spaces: true, absent: []string{"ץטזג", "ףסטץ"},
		seeds: "אני לא את זה של מה הוא על יש אתה כן היא טוב עם אבל אם תודה היום מחר שלום בבקשה איפה עכשיו הביתה חבר עבודה שבת משפחה ירושלים הודעה",
	},
	{
		name: "Hindi", weight: 5, spaces: true, absent: []string{"ढ़ङञ", "ञऋढङ"},
		seeds: "है के में की नहीं को और से का हो मैं यह तो हम क्या भी कर आप कल आज नमस्ते धन्यवाद अच्छा बहुत घर काम समय दोस्त कहाँ कैसे संदेश परिवार",
	},
	{
		name: "Thai", weight: 3, absent: []string{"ฒฌฎฏ", "ฏฬฒฌ"},
		seeds: "ที่ ไม่ เป็น และ มี ได้ ว่า จะ ของ ใน ครับ ค่ะ ขอบคุณ วันนี้ พรุ่งนี้ สวัสดี บ้าน งาน เพื่อน กินข้าว ไปไหน สบายดี ข้อความ",
	},
	{
		name: "Japanese", weight: 4, absent: []string{"鬱ヴ麒麟", "麟ヂ鬱"},
		seeds: "の に は を た が で て と し れ さ ある いる も する から な こと です ます ありがとう 明日 今日 日本 東京 大丈夫 時間 お願い 電車 カフェ メッセージ ください 元気 また 家族",
	},
	{
		name: "Chinese", weight: 4, absent: []string{"饕餮龘", "龘魑魅"},
		seeds: "的 一 是 不 了 人 我 在 有 他 这 中 大 来 上 国 个 到 说 们 我们 你好 谢谢 明天 今天 什么 时候 知道 可以 中国 北京 朋友 工作 家里 消息 现在 没有",
	},
	{
		name: "Korean", weight: 2, spaces: true, absent: []string{"뷁쀍", "쀍뛟"},
		seeds: "나는 너는 이것 그것 저는 오늘 내일 안녕하세요 감사합니다 사람 시간 친구 집에 일이 어디 무엇 좋아요 괜찮아 정말 지금 메시지 서울 가족 주말",
	},
}

var emoji = []string{"😂", "❤️", "👍", "🙏", "🎉", "😊", "🥾", "👩‍👩‍👧", "🇩🇪", "👍🏽", "🤷‍♂️", "🚀"}

// made has the vocabularies of each seed. Making them takes a second.
var made sync.Map

// vocabularies returns the words of each language.
func vocabularies(seed uint64) [][]string {
	words, _ := made.LoadOrStore(seed, sync.OnceValue(func() (words [][]string) {
		r := rand.New(rand.NewPCG(seed, math.MaxUint64))
		for _, language := range languages {
			words = append(words, language.vocabulary(r))
		}
		return words
	}))
	return words.(func() [][]string)()
}

// vocabularySize is the number of words of a language.
const vocabularySize = 24_000

// vocabulary makes up the words of a language. Letters follow each other as often
// as in the seeds, with occasional exceptions that yield rare words.
func (l language) vocabulary(r *rand.Rand) []string {
	words := strings.Fields(l.seeds)
	follows, letters := map[rune][]rune{}, []rune(strings.Join(words, ""))
	seen := make(map[string]bool, vocabularySize)
	for _, word := range words {
		seen[word] = true
		before := ' '
		for _, letter := range word {
			follows[before], before = append(follows[before], letter), letter
		}
	}
	shortest := 2
	if l.spaces {
		shortest = 3
	}
	for len(words) < vocabularySize {
		word := makeWord(r, follows, letters, shortest+r.IntN(3)+len(words)*4/vocabularySize)
		if !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	return words
}

func makeWord(r *rand.Rand, follows map[rune][]rune, letters []rune, length int) string {
	var word strings.Builder
	before := ' '
	for range length {
		next := follows[before]
		if len(next) == 0 || r.IntN(12) == 0 {
			next = letters
		}
		before = next[r.IntN(len(next))]
		word.WriteRune(before)
	}
	return word.String()
}

// upper returns a word in the language's capitals.
func (l language) upper(word string) string {
	if l.special != nil {
		return strings.ToUpperSpecial(l.special, word)
	}
	return strings.ToUpper(word)
}

// title capitalizes a word as the language does.
func (l language) title(word string) string {
	_, first := utf8.DecodeRuneInString(word)
	return l.upper(word[:first]) + word[first:]
}
