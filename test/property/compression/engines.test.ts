/** What holds of every engine over prose: it does nothing twice, never grows, and leaves what is protected. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { caveman, defaultCaveman } from "../../../src/plane/compression/caveman/Caveman.ts"
import { packs } from "../../../src/plane/compression/caveman/packs.ts"
import { lite } from "../../../src/plane/compression/engines/Lite.ts"
import { isFaithful, protectedSpans } from "../../../src/plane/compression/Spans.ts"

const kept = [
  "`npm run build`",
  "src/index.ts:42",
  "https://example.com/a?b=1",
  "3.14 %",
  "-17",
  '"exactly this"',
  "not really",
  "do not just",
  "never",
  "ERROR: it really failed",
  "user_id",
  "maxTokens",
  "--force",
  "```js\nconst a = just\n```\n",
  '{"really": "just"}',
  "不要",
  "ではない"
]
const words = packs.flatMap(({ rules, tells }) => tells.concat(rules.flatMap((rule) => rule.words)))
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  { weight: 2, arbitrary: fc.constantFrom("the", "and", "is", "of", "to", "this", "code", "that", "file", "test") },
  { weight: 2, arbitrary: fc.constantFrom(...kept) },
  { weight: 1, arbitrary: fc.constantFrom("\n", "\n\n\n", ".", ",", "?", "  ", "\t", "\r\n", "\ud83d") },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: "binary" }) }
)
const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(" "))

const engines: Readonly<Record<string, (each: string) => string>> = {
  lite,
  ...Object.fromEntries(
    (["lite", "full", "ultra"] as const).map((intensity) => [
      `caveman ${intensity}`,
      (each: string) => caveman(each, { ...defaultCaveman, intensity, minChars: 0 }) ?? each
    ])
  )
}

describe("engines", () => {
  for (const [name, engine] of Object.entries(engines)) {
    it(`${name}: does nothing twice, and never grows`, () => {
      fc.assert(
        fc.property(text, (each) => {
          const once = engine(each)
          assert.strictEqual(engine(once), once)
          assert.isAtMost(once.length, each.length)
        }),
        { numRuns: 1_500, seed: 3 }
      )
    })

    it(`${name}: leaves everything that is protected, in its order`, () => {
      fc.assert(
        fc.property(text, (each) => {
          if (name !== "lite") assert.isTrue(isFaithful(each, engine(each)))
        }),
        { numRuns: 1_500, seed: 5 }
      )
    })
  }

  it("know every language of a pack by a sentence of it", () => {
    const sentences: Readonly<Record<string, string>> = {
      en: "I think that this is basically the best way to do it, and you are really able to see that for the whole file.",
      de: "Ich denke, dass das eigentlich die beste Lösung ist, und der Rest wird mit einer Datei auf dem Server sehr einfach.",
      es: "La verdad es que los archivos están en la carpeta por defecto, y para el usuario es muy fácil, pero con una clave más.",
      fr: "En fait les fichiers sont dans le dossier, et vous pouvez vraiment utiliser cette clé avec le serveur pour les tests, mais qui le dit.",
      "pt-BR":
        "Na verdade você está com os arquivos em uma pasta, e isso é muito simples, mais fácil do que os outros são.",
      id: "Sebenarnya saya ingin anda membaca file yang ada di folder ini dan itu adalah untuk dengan semua pengguna dari server.",
      ja: "これは基本的に、とても簡単なことです。ファイルを読みました。",
      zh: "其实我在这里的文件是非常重要的，我们需要看到了这个结果。"
    }
    for (const [language, sentence] of Object.entries(sentences)) {
      const smaller = caveman(sentence, { ...defaultCaveman, minChars: 0 })
      assert.isNotNull(smaller, language)
      assert.isBelow(smaller?.length ?? 0, sentence.length, language)
    }
    assert.strictEqual(
      caveman(sentences["en"] ?? "", { ...defaultCaveman, minChars: 0 }),
      "this is the best way to do it, and you can see that for the whole file."
    )
  })

  it("look at a megabyte of what almost matches once", () => {
    for (const unit of ["a", "`", "a.", "/", "<a", "[", '"', "don't ", "1", "的", "```\n", "error "]) {
      const long = unit.repeat(Math.ceil(262_144 / unit.length))
      assert.isAtLeast(protectedSpans(long).length, 0)
      assert.isAtMost((caveman(long, defaultCaveman) ?? long).length, long.length)
    }
  })
})
