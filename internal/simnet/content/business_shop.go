package content

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// shopMessages returns messages that offer choices.
func shopMessages(f BusinessFiles) []BusinessMessage {
	card := func(text, id string) *waE2E.InteractiveMessage {
		return &waE2E.InteractiveMessage{
			Header:             &waE2E.InteractiveMessage_Header{Media: &waE2E.InteractiveMessage_Header_ImageMessage{ImageMessage: f.Image}, HasMediaAttachment: proto.Bool(true)},
			Body:               &waE2E.InteractiveMessage_Body{Text: str(text)},
			InteractiveMessage: nativeFlow(flowButton("quick_reply", `{"display_text":"Buy","id":"`+id+`"}`)),
		}
	}
	return []BusinessMessage{
		{"buttons", &waE2E.Message{ButtonsMessage: &waE2E.ButtonsMessage{
			Header: &waE2E.ButtonsMessage_VideoMessage{VideoMessage: f.Video}, HeaderType: waE2E.ButtonsMessage_VIDEO.Enum(),
			ContentText: str("New shoes!"), FooterText: str("Shoe shop"), Buttons: []*waE2E.ButtonsMessage_Button{
				{ButtonID: str("more"), ButtonText: &waE2E.ButtonsMessage_Button_ButtonText{DisplayText: str("Show me")}, Type: waE2E.ButtonsMessage_Button_RESPONSE.Enum()},
				{Type: waE2E.ButtonsMessage_Button_NATIVE_FLOW.Enum(), NativeFlowInfo: &waE2E.ButtonsMessage_Button_NativeFlowInfo{
					Name:       str("cta_url"),
					ParamsJSON: str(`{"display_text":"Web shop","url":"https://shoes.example"}`),
				}},
			},
		}}},
		{"buttons with a title", &waE2E.Message{ButtonsMessage: &waE2E.ButtonsMessage{
			Header: &waE2E.ButtonsMessage_Text{Text: "Delivery"}, HeaderType: waE2E.ButtonsMessage_TEXT.Enum(), ContentText: str("Is tomorrow fine?"),
			Buttons: []*waE2E.ButtonsMessage_Button{{ButtonID: str("1"), ButtonText: &waE2E.ButtonsMessage_Button_ButtonText{DisplayText: str("Yes")}}},
		}}},
		{"buttons with a place", &waE2E.Message{ButtonsMessage: &waE2E.ButtonsMessage{
			Header: &waE2E.ButtonsMessage_LocationMessage{LocationMessage: theShop()}, HeaderType: waE2E.ButtonsMessage_LOCATION.Enum(),
			ContentText: str("Pick it up here"), Buttons: []*waE2E.ButtonsMessage_Button{{ButtonID: str("ok"), ButtonText: &waE2E.ButtonsMessage_Button_ButtonText{DisplayText: str("OK")}}},
		}}},
		{"flow with a place", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Header: &waE2E.InteractiveMessage_Header{Media: &waE2E.InteractiveMessage_Header_LocationMessage{LocationMessage: theShop()}},
			Body:   &waE2E.InteractiveMessage_Body{Text: str("We are here")}, InteractiveMessage: nativeFlow(flowButton("quick_reply", `{"display_text":"Thanks","id":"t"}`)),
		}}},
		{"list", &waE2E.Message{ListMessage: &waE2E.ListMessage{
			Title: str("Sizes"), Description: str("Which one?"), FooterText: str("EU sizes"), ButtonText: str("Choose"),
			ListType: waE2E.ListMessage_SINGLE_SELECT.Enum(), Sections: []*waE2E.ListMessage_Section{
				{Title: str("Small"), Rows: []*waE2E.ListMessage_Row{{RowID: str("s36"), Title: str("36"), Description: str("in stock")}, {RowID: str("s37"), Title: str("37")}}},
				{Title: str("Large"), Rows: []*waE2E.ListMessage_Row{{RowID: str("s45"), Title: str("45"), Description: str("two left")}}},
			},
		}}},
		{"product list", &waE2E.Message{ListMessage: &waE2E.ListMessage{
			Title: str("Boots"), Description: str("For winter"), ListType: waE2E.ListMessage_PRODUCT_LIST.Enum(),
			ProductListInfo: &waE2E.ListMessage_ProductListInfo{ProductSections: []*waE2E.ListMessage_ProductSection{{Title: str("Leather"), Products: []*waE2E.ListMessage_Product{{ProductID: str("8")}}}}},
		}}},
		{"newer list", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Body: &waE2E.InteractiveMessage_Body{Text: str("Which colour?")},
			InteractiveMessage: nativeFlow(flowButton("single_select",
				`{"title":"Colours","sections":[{"title":"Dark","rows":[{"id":"bk","title":"black","description":"matt"},{"id":"bl","header":"blue"}]}]}`)),
		}}},
		{"carousel", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Body: &waE2E.InteractiveMessage_Body{Text: str("Our favourites")},
			InteractiveMessage: &waE2E.InteractiveMessage_CarouselMessage_{CarouselMessage: &waE2E.InteractiveMessage_CarouselMessage{
				Cards: []*waE2E.InteractiveMessage{card("Sneaker", "c1"), card("Sandal", "c2")},
			}},
		}}},
		{"shop", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Body:               &waE2E.InteractiveMessage_Body{Text: str("Visit our shop")},
			InteractiveMessage: &waE2E.InteractiveMessage_ShopStorefrontMessage{ShopStorefrontMessage: &waE2E.InteractiveMessage_ShopMessage{ID: str("5")}},
		}}},
		{"collection", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Header: &waE2E.InteractiveMessage_Header{
				Media: &waE2E.InteractiveMessage_Header_DocumentMessage{DocumentMessage: f.Document}, Title: str("Autumn"),
			}, Body: &waE2E.InteractiveMessage_Body{Text: str("All of it")},
			InteractiveMessage: &waE2E.InteractiveMessage_CollectionMessage_{CollectionMessage: &waE2E.InteractiveMessage_CollectionMessage{BizJID: str("34600100109@s.whatsapp.net"), ID: str("6")}},
		}}},
	}
}

// theShop returns the shop's location.
func theShop() *waE2E.LocationMessage {
	return &waE2E.LocationMessage{DegreesLatitude: proto.Float64(41.38), DegreesLongitude: proto.Float64(2.17), Name: str("Shoe shop"), Address: str("Calle 5")}
}

// shoe returns one of the shop's products.
func shoe(f BusinessFiles) *waE2E.ProductMessage {
	return &waE2E.ProductMessage{
		BusinessOwnerJID: str("34600100109@s.whatsapp.net"), Body: str("Still interested?"), Footer: str("Shoe shop"),
		Product: &waE2E.ProductMessage_ProductSnapshot{
			ProductImage: f.Image, ProductID: str("8"), Title: str("Boot"), Description: str("warm and dry"), CurrencyCode: str("EUR"),
			PriceAmount1000: proto.Int64(89900), SalePriceAmount1000: proto.Int64(59995), RetailerID: str("boot-8"), URL: str("https://shoes.example/8"),
		},
	}
}

// catalogMessages returns messages about products and orders.
func catalogMessages(f BusinessFiles) []BusinessMessage {
	return []BusinessMessage{
		{"product", &waE2E.Message{ProductMessage: shoe(f)}},
		{"catalog", &waE2E.Message{ProductMessage: &waE2E.ProductMessage{Catalog: &waE2E.ProductMessage_CatalogSnapshot{CatalogImage: f.Image, Title: str("Shoe shop"), Description: str("all shoes")}}}},
		{"product with buttons", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Header:             &waE2E.InteractiveMessage_Header{Media: &waE2E.InteractiveMessage_Header_ProductMessage{ProductMessage: shoe(f)}},
			InteractiveMessage: nativeFlow(flowButton("quick_reply", `{"display_text":"Keep it for me","id":"keep"}`)),
		}}},
		{"order", &waE2E.Message{OrderMessage: &waE2E.OrderMessage{
			OrderID: str("1001"), ItemCount: proto.Int32(2), Status: waE2E.OrderMessage_INQUIRY.Enum(), Message: str("Please by Friday"),
			OrderTitle: str("Boot"), SellerJID: str("34600100109@s.whatsapp.net"), Token: str("secret"), TotalAmount1000: proto.Int64(119990), TotalCurrencyCode: str("EUR"),
		}}},
		{"order to be paid", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Body: &waE2E.InteractiveMessage_Body{Text: str("Please pay")},
			InteractiveMessage: nativeFlow(flowButton("review_and_pay", `{"currency":"EUR","total_amount":{"value":11999,"offset":100},"reference_id":"R-7",`+
				`"order":{"status":"pending","items":[{"name":"Boot","amount":{"value":5999,"offset":100},"quantity":2},{"name":"Laces","quantity":1}]}}`)),
		}}},
		{"order on its way", &waE2E.Message{InteractiveMessage: &waE2E.InteractiveMessage{
			Body:               &waE2E.InteractiveMessage_Body{Text: str("News of your order")},
			InteractiveMessage: nativeFlow(flowButton("review_order", `{"reference_id":4711,"order":{"status":"shipped","description":"Arrives on Friday"}}`)),
		}}},
	}
}
