/** The built-in rule packs. None of their words denies, counts, limits or orders anything. */
import { type Pack, rule } from "./Pack.ts"

const en: Pack = {
  language: "en",
  tells: ["the", "and", "is", "of", "to", "that", "this", "with", "for", "you", "are", "was", "have"],
  isUnspaced: false,
  rules: [
    rule("filler", "adverbs", "lite", [
      "just",
      "really",
      "basically",
      "actually",
      "simply",
      "literally",
      "essentially",
      "honestly",
      "obviously",
      "clearly",
      "very",
      "quite",
      "totally",
      "absolutely",
      "definitely",
      "certainly",
      "somewhat",
      "kind of",
      "sort of",
      "pretty much"
    ]),
    rule("filler", "courtesy", "lite", [
      "please",
      "kindly",
      "thank you very much",
      "thank you so much",
      "thanks a lot",
      "thanks in advance",
      "if you don't mind",
      "i would appreciate it if you could",
      "i would really appreciate it if you could",
      "it would be great if you could",
      "feel free to"
    ]),
    rule("filler", "hedges", "lite", [
      "i think that",
      "i believe that",
      "i guess that",
      "i was wondering if",
      "it seems to me that",
      "as you may know",
      "as we all know",
      "needless to say",
      "in my opinion",
      "to be honest",
      "as a matter of fact",
      "for what it's worth",
      "at the end of the day"
    ]),
    rule("structural", "requests", "full", [
      "could you please",
      "can you please",
      "would you please",
      "i would like you to",
      "i'd like you to",
      "i want you to",
      "i need you to",
      "what i want is for you to"
    ]),
    rule("structural", "in order to", "full", ["in order to", "so as to", "for the purpose of being able to"], "to"),
    rule(
      "structural",
      "because",
      "full",
      [
        "due to the fact that",
        "owing to the fact that",
        "in view of the fact that",
        "for the reason that",
        "on account of the fact that"
      ],
      "because"
    ),
    rule(
      "structural",
      "about",
      "full",
      ["with regard to", "with respect to", "in relation to", "in reference to", "regarding the matter of"],
      "about"
    ),
    rule("structural", "if", "full", ["in the event that", "on the condition that", "in case it happens that"], "if"),
    rule(
      "structural",
      "when",
      "full",
      ["at the time when", "at the point in time when", "at that moment when"],
      "when"
    ),
    rule("structural", "now", "full", ["at this point in time", "at the present time", "at the current moment"], "now"),
    rule("structural", "many", "full", ["a large number of", "a great number of"], "many"),
    rule(
      "structural",
      "can",
      "full",
      ["has the ability to", "have the ability to", "is able to", "are able to"],
      "can"
    ),
    rule("structural", "use", "full", ["make use of", "makes use of"], "use"),
    rule("context", "openings", "full", [
      "here is what i need:",
      "let me explain the situation.",
      "let me give you some context.",
      "here's the thing:",
      "so basically what happens is that"
    ]),
    rule("dedup", "pairs", "full", ["each and every"], "each"),
    rule("dedup", "first and foremost", "full", ["first and foremost"], "first"),
    rule("ultra", "articles", "ultra", ["the", "an"]),
    rule("ultra", "links", "ultra", [
      "furthermore",
      "moreover",
      "additionally",
      "in addition to that",
      "therefore",
      "thus",
      "also",
      "then"
    ])
  ]
}

const de: Pack = {
  language: "de",
  tells: ["der", "die", "das", "und", "ist", "ich", "mit", "auf", "für", "ein", "eine", "sich", "dass", "wird"],
  isUnspaced: false,
  rules: [
    rule("filler", "Füllwörter", "lite", [
      "eigentlich",
      "eben",
      "halt",
      "einfach",
      "wirklich",
      "sozusagen",
      "quasi",
      "gewissermaßen",
      "natürlich",
      "selbstverständlich",
      "sehr",
      "ziemlich",
      "irgendwie",
      "im grunde genommen",
      "im prinzip",
      "ja mal"
    ]),
    rule("filler", "Höflichkeit", "lite", [
      "bitte",
      "vielen dank im voraus",
      "danke im voraus",
      "vielen dank",
      "wenn es dir nichts ausmacht",
      "wenn es ihnen nichts ausmacht"
    ]),
    rule("structural", "Bitten", "full", [
      "könntest du bitte",
      "könnten sie bitte",
      "kannst du bitte",
      "können sie bitte",
      "ich möchte, dass du",
      "ich möchte, dass sie",
      "ich hätte gerne, dass du"
    ]),
    rule("structural", "weil", "full", ["aufgrund der tatsache, dass", "angesichts der tatsache, dass"], "weil"),
    rule("structural", "jetzt", "full", ["zum jetzigen zeitpunkt", "zum gegenwärtigen zeitpunkt"], "jetzt"),
    rule("context", "Einleitungen", "full", [
      "ich wollte fragen, ob",
      "meiner meinung nach",
      "wie du weißt",
      "wie sie wissen"
    ]),
    rule("ultra", "Artikel", "ultra", ["der", "die", "das", "ein", "eine", "einen", "einem", "einer"])
  ]
}

const es: Pack = {
  language: "es",
  tells: ["el", "los", "las", "es", "una", "por", "con", "para", "está", "como", "más", "pero", "muy", "este"],
  isUnspaced: false,
  rules: [
    rule("filler", "muletillas", "lite", [
      "realmente",
      "básicamente",
      "simplemente",
      "literalmente",
      "obviamente",
      "claramente",
      "muy",
      "bastante",
      "la verdad es que",
      "de hecho",
      "o sea",
      "digamos"
    ]),
    rule("filler", "cortesía", "lite", [
      "por favor",
      "muchas gracias de antemano",
      "gracias de antemano",
      "muchas gracias",
      "si no te importa",
      "si no le importa"
    ]),
    rule("structural", "peticiones", "full", [
      "¿podrías por favor",
      "podrías por favor",
      "podría por favor",
      "me gustaría que",
      "quiero que",
      "necesito que"
    ]),
    rule("structural", "porque", "full", ["debido al hecho de que", "a causa de que", "por el hecho de que"], "porque"),
    rule("structural", "para", "full", ["con el fin de", "con el objetivo de", "con el propósito de"], "para"),
    rule("context", "entradas", "full", [
      "en mi opinión",
      "como ya sabes",
      "cabe destacar que",
      "es importante mencionar que"
    ]),
    rule("dedup", "pares", "full", ["todos y cada uno de"], "cada uno de"),
    rule("ultra", "artículos", "ultra", ["el", "la", "los", "las", "un", "una", "unos", "unas"])
  ]
}

const fr: Pack = {
  language: "fr",
  tells: ["le", "les", "des", "est", "dans", "pour", "avec", "vous", "nous", "cette", "mais", "qui", "être"],
  isUnspaced: false,
  rules: [
    rule("filler", "remplissage", "lite", [
      "vraiment",
      "en fait",
      "tout simplement",
      "simplement",
      "littéralement",
      "évidemment",
      "clairement",
      "très",
      "assez",
      "du coup",
      "en quelque sorte"
    ]),
    rule("filler", "politesse", "lite", [
      "s'il te plaît",
      "s'il vous plaît",
      "merci d'avance",
      "merci beaucoup",
      "je vous prie de bien vouloir"
    ]),
    rule("structural", "demandes", "full", [
      "pourrais-tu",
      "pourriez-vous",
      "j'aimerais que tu",
      "j'aimerais que vous",
      "je voudrais que vous"
    ]),
    rule("structural", "parce que", "full", ["en raison du fait que", "du fait que", "étant donné que"], "parce que"),
    rule("structural", "pour", "full", ["afin de", "dans le but de", "en vue de"], "pour"),
    rule("ultra", "articles", "ultra", ["le", "la", "les", "un", "une", "des"])
  ]
}

const ptBR: Pack = {
  language: "pt-BR",
  tells: ["você", "os", "uma", "é", "em", "com", "está", "mais", "isso", "muito", "são", "então", "também"],
  isUnspaced: false,
  rules: [
    rule("filler", "muletas", "lite", [
      "realmente",
      "basicamente",
      "simplesmente",
      "literalmente",
      "obviamente",
      "claramente",
      "muito",
      "bastante",
      "na verdade",
      "tipo assim",
      "de fato"
    ]),
    rule("filler", "cortesia", "lite", [
      "por favor",
      "por gentileza",
      "muito obrigado desde já",
      "desde já agradeço",
      "muito obrigado",
      "muito obrigada",
      "se não se importar"
    ]),
    rule("structural", "pedidos", "full", [
      "você poderia por favor",
      "você poderia",
      "gostaria que você",
      "eu quero que você",
      "preciso que você"
    ]),
    rule(
      "structural",
      "porque",
      "full",
      ["devido ao fato de que", "em razão do fato de que", "pelo fato de que"],
      "porque"
    ),
    rule("structural", "para", "full", ["com o objetivo de", "com a finalidade de", "a fim de"], "para"),
    rule("context", "entradas", "full", [
      "na minha opinião",
      "como você sabe",
      "vale ressaltar que",
      "é importante mencionar que"
    ]),
    rule("dedup", "pares", "full", ["todo e qualquer"], "qualquer"),
    rule("ultra", "artigos", "ultra", ["os", "as", "um", "uma", "uns", "umas"])
  ]
}

const id: Pack = {
  language: "id",
  tells: ["yang", "dan", "di", "untuk", "dengan", "ini", "itu", "dari", "pada", "saya", "adalah", "akan", "anda"],
  isUnspaced: false,
  rules: [
    rule("filler", "pengisi", "lite", [
      "sebenarnya",
      "pada dasarnya",
      "benar-benar",
      "tentu saja",
      "sangat",
      "sekali",
      "kayaknya",
      "sepertinya begini",
      "jujur saja"
    ]),
    rule("filler", "sopan", "lite", [
      "tolong",
      "mohon",
      "terima kasih sebelumnya",
      "terima kasih banyak",
      "terima kasih",
      "kalau boleh"
    ]),
    rule("structural", "permintaan", "full", [
      "bisakah anda",
      "bisakah kamu",
      "saya ingin anda",
      "saya ingin kamu",
      "saya mau kamu"
    ]),
    rule("structural", "karena", "full", ["disebabkan oleh fakta bahwa", "dikarenakan"], "karena"),
    rule("structural", "untuk", "full", ["dengan tujuan untuk", "dalam rangka"], "untuk"),
    rule("context", "pembuka", "full", ["menurut saya", "seperti yang anda tahu", "perlu diketahui bahwa"]),
    rule("ultra", "penghubung", "ultra", ["selain itu", "kemudian", "lalu", "juga"])
  ]
}

const ja: Pack = {
  language: "ja",
  tells: ["です", "ます", "した", "こと", "という"],
  isUnspaced: true,
  rules: [
    rule("filler", "つなぎ", "lite", [
      "基本的に",
      "実際のところ",
      "とりあえず",
      "えーと",
      "なんというか",
      "本当に",
      "とても",
      "非常に"
    ]),
    rule("filler", "丁寧", "lite", [
      "よろしくお願いいたします",
      "よろしくお願いします",
      "お手数ですが",
      "恐れ入りますが",
      "お忙しいところ"
    ]),
    rule(
      "structural",
      "依頼",
      "full",
      ["していただけますでしょうか", "していただけますか", "していただけると助かります"],
      "して"
    ),
    rule("structural", "ため", "full", ["ということが原因で"], "ため")
  ]
}

const zh: Pack = {
  language: "zh",
  tells: ["的", "是", "了", "在", "我", "这", "们"],
  isUnspaced: true,
  rules: [
    rule("filler", "赘词", "lite", [
      "其实",
      "基本上",
      "实际上",
      "说实话",
      "真的",
      "非常",
      "十分",
      "简单来说",
      "总的来说"
    ]),
    rule("filler", "客套", "lite", ["麻烦你", "麻烦您", "非常感谢", "谢谢你", "谢谢您", "辛苦了", "拜托了"]),
    rule("ultra", "请求", "ultra", ["我想请你", "我希望你能", "你能不能帮我", "请你帮我", "请帮我"]),
    rule("dedup", "重复", "full", ["每一个个"], "每个")
  ]
}

export const packs: ReadonlyArray<Pack> = [en, de, es, fr, ptBR, id, ja, zh]
