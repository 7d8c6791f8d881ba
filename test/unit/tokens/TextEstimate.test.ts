import { assert, describe, it } from "@effect/vitest"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { readFileSync } from "node:fs"
import { estimateTexts } from "../../../src/plane/tokens/TextEstimate.ts"

const file = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8").slice(0, 40_000)
const rows = Array.from({ length: 300 }, (_, id) => ({
  id,
  name: `user${id}`,
  score: id * 1.37,
  tags: ["alpha", "beta"]
}))

const texts = {
  "English prose":
    "The old baker rose before dawn, as he had done every morning for forty years, and lit the oven while the town was still asleep. ",
  code: file("src/plane/attempt/RunCall.ts"),
  "a licence": file("LICENSE"),
  JSON: JSON.stringify(rows),
  "a lock file": file("package-lock.json"),
  Chinese:
    "今天早上，老面包师像四十年来的每一天一样，在黎明前起床，点燃了烤炉，而整个小镇还在沉睡。外面下起了今年冬天的第一场雪。",
  Japanese:
    "年老いたパン職人は、四十年間毎朝そうしてきたように、夜明け前に起きて、町がまだ眠っている間に窯に火を入れた。",
  Korean:
    "늙은 제빵사는 지난 사십 년 동안 매일 아침 그래왔듯이 동트기 전에 일어나 마을이 아직 잠들어 있는 동안 오븐에 불을 붙였다.",
  Russian:
    "Старый пекарь встал до рассвета, как делал это каждое утро в течение сорока лет, и разжёг печь, пока город ещё спал.",
  German:
    "Der alte Bäcker stand vor der Dämmerung auf, wie er es seit vierzig Jahren jeden Morgen getan hatte, und heizte den Ofen an."
}

describe("the guess at the tokens of texts", () => {
  for (const [name, text] of Object.entries(texts)) {
    it(`is within 15 % of the tokeniser (${name})`, () => {
      const ratio = estimateTexts([text]) / countTokens(text)
      assert.isTrue(ratio > 0.85 && ratio < 1.15, `${ratio}`)
    })
  }

  it("takes what it does not look at to be like what it looks at", () => {
    const text = texts["English prose"].repeat(2_000)
    const ratio = estimateTexts([text, "", text]) / (2 * countTokens(text))
    assert.isTrue(ratio > 0.85 && ratio < 1.15, `${ratio}`)
  })

  it("of nothing is nothing", () => {
    assert.strictEqual(estimateTexts([]), 0)
    assert.strictEqual(estimateTexts(["", ""]), 0)
  })
})
