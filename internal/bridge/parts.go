package bridge

// Parts are the structured parts of a message besides its text. Missing parts are nil.
type Parts struct {
	Location    *Place          `json:"location"`
	Contacts    []SharedContact `json:"contacts" bound:"contacts"`
	Interactive *Interactive    `json:"interactive"`
	Event       *CalendarEvent  `json:"event"`
	GroupInvite *GroupInvite    `json:"groupInvite"`
	Order       *ShopOrder      `json:"order"`
	Product     *Product        `json:"product"`
	LinkPreview *LinkPreview    `json:"linkPreview"`
	Referral    *Referral       `json:"referral"`
	Album       *Album          `json:"album"`
	AlbumID     *string         `json:"albumId"` // of the album that the message belongs to
}

// IsZero reports whether there are no parts.
func (p *Parts) IsZero() bool {
	return p.Location == nil && len(p.Contacts) == 0 && p.Interactive == nil && p.Event == nil &&
		p.GroupInvite == nil && p.Order == nil && p.Product == nil && p.LinkPreview == nil &&
		p.Referral == nil && p.Album == nil && p.AlbumID == nil
}

// Place is a location in a message. A live location moves.
type Place struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name" bound:"option"`
	Address   string  `json:"address" bound:"topic"`
	URL       string  `json:"url" bound:"url"`
	IsLive    bool    `json:"isLive"`
}

// SharedContact is a contact in a message, parsed from its vCard.
type SharedContact struct {
	DisplayName  string        `json:"displayName" bound:"name"`
	Phones       []SharedPhone `json:"phones" bound:"phones"`
	Emails       []string      `json:"emails" bound:"emails"`
	Organization string        `json:"organization" bound:"name"`
	Title        string        `json:"title" bound:"name"`
	VCard        string        `json:"vcard" bound:"content"`
}

// SharedPhone is a number as the vCard contains it. JID is set if the vCard names the account.
type SharedPhone struct {
	Number string `json:"number" bound:"number"`
	JID    JID    `json:"jid"`
}

// InteractiveKind is the form of a message with choices.
type InteractiveKind string

const (
	InteractiveButtons    InteractiveKind = "buttons"
	InteractiveList       InteractiveKind = "list"
	InteractiveTemplate   InteractiveKind = "template"
	InteractiveFlow       InteractiveKind = "flow"
	InteractiveCarousel   InteractiveKind = "carousel"
	InteractiveShop       InteractiveKind = "shop"
	InteractiveCollection InteractiveKind = "collection"
)

// Interactive is a message with choices or, if Selected is set, the answer to one.
type Interactive struct {
	Kind     InteractiveKind `json:"kind"`
	Title    string          `json:"title" bound:"content"`
	Body     string          `json:"body" bound:"content"`
	Footer   string          `json:"footer" bound:"content"`
	Buttons  []Button        `json:"buttons" bound:"buttons"`
	Selected *Choice         `json:"selected"`
}

// Button is one choice: a reply by its ID, a URL to open or a number to call.
type Button struct {
	ID    string `json:"id" bound:"id"`
	Text  string `json:"text" bound:"option"`
	URL   string `json:"url" bound:"url"`
	Phone string `json:"phone" bound:"number"`
}

// Choice is the button that was chosen.
type Choice struct {
	ID   string `json:"id" bound:"id"`
	Text string `json:"text" bound:"content"`
}

// CalendarEvent is an event that members of a chat can attend.
type CalendarEvent struct {
	Name        string          `json:"name" bound:"content"`
	Description string          `json:"description" bound:"content"`
	Location    *Place          `json:"location"`
	StartAt     *Time           `json:"startAt"`
	EndAt       *Time           `json:"endAt"`
	Cancelled   bool            `json:"cancelled"`
	Responses   *EventResponses `json:"responses"` // filled by the store when reading
}

// EventResponses are the latest answers to an event.
type EventResponses struct {
	Going    []JID `json:"going"`
	Maybe    []JID `json:"maybe"`
	NotGoing []JID `json:"notGoing"`
	Guests   int   `json:"guests"` // how many more people come along
}

// GroupInvite invites one person to a group.
type GroupInvite struct {
	JID       JID    `json:"jid"`
	Name      string `json:"name" bound:"name"`
	Code      string `json:"code" bound:"name"`
	ExpiresAt *Time  `json:"expiresAt"`
}

// ShopOrder is an order from a business, or the business's request for payment. Total is a
// decimal number, such as "12.50".
type ShopOrder struct {
	Title     string `json:"title" bound:"option"`
	ID        string `json:"id" bound:"id"`
	SellerJID JID    `json:"sellerJid"`
	ItemCount int    `json:"itemCount" bound:"items"`
	Total     string `json:"total" bound:"number"`
	Currency  string `json:"currency" bound:"number"`
	Status    string `json:"status" bound:"number"`
}

// Product is an article of a business's catalog, or the catalog. Prices are decimal numbers, such
// as "12.50".
type Product struct {
	Title       string `json:"title" bound:"option"`
	Description string `json:"description" bound:"content"`
	ID          string `json:"id" bound:"id"`
	RetailerID  string `json:"retailerId" bound:"id"`
	URL         string `json:"url" bound:"url"`
	Price       string `json:"price" bound:"number"`
	SalePrice   string `json:"salePrice" bound:"number"`
	Currency    string `json:"currency" bound:"number"`
	SellerJID   JID    `json:"sellerJid"`
}

// LinkPreview is the preview of a URL in a message's text.
type LinkPreview struct {
	URL         string `json:"url" bound:"url"`
	Title       string `json:"title" bound:"option"`
	Description string `json:"description" bound:"topic"`
}

// Referral is the ad, or the entry point in another app, through which a person opened the chat.
// The first message after an ad often has only Payload.
type Referral struct {
	SourceType       string  `json:"sourceType" bound:"name"` // as the network says, such as "ad" or "post"
	SourceID         string  `json:"sourceId" bound:"id"`
	SourceURL        string  `json:"sourceUrl" bound:"url"`
	Headline         string  `json:"headline" bound:"option"`
	Body             string  `json:"body" bound:"topic"`
	MediaType        string  `json:"mediaType" bound:"number"` // "image", "video" or empty
	Thumbnail        *string `json:"thumbnail"`                // a data URL of at most [MaxThumbnail] bytes
	CTWAClid         string  `json:"ctwaClid" bound:"id"`      // the click's id, for Meta's conversions API
	EntryPoint       string  `json:"entryPoint" bound:"name"`
	Payload          string  `json:"payload" bound:"payload"` // base64 of what only the apps understand
	ConversionSource string  `json:"conversionSource" bound:"name"`
}

// Album is several pictures and videos that are shown together. Images and Videos are the numbers
// that its sender announced. The store sets Arrived, the number of stored ones.
type Album struct {
	Images  int `json:"images" bound:"album"`
	Videos  int `json:"videos" bound:"album"`
	Arrived int `json:"arrived"`
}
