import { assert, it } from "@effect/vitest"
import { usdText } from "../../../src/kernel/text/UsdText.ts"

it("writes amounts as plain decimals", () => {
  for (const [usd, text] of [
    [0, "0 USD"],
    [5, "5 USD"],
    [100, "100 USD"],
    [0.1, "0.1 USD"],
    [1e-7, "0.0000001 USD"],
    [0.000105, "0.000105 USD"],
    [1_000_000, "1000000 USD"]
  ] as const) {
    assert.strictEqual(usdText(usd), text)
  }
})
