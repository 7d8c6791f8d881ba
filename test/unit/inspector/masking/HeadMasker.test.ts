import { assert, describe, it } from "@effect/vitest"
import { makeHeadMasker } from "../../../../src/observe/inspector/masking/HeadMasker.ts"
import { maskHeaders, maskUrl } from "../../../../src/observe/inspector/masking/Masking.ts"
import { coreOf, shapedSecrets } from "../../../support/KindsOfSecrets.ts"

describe("the masker of heads", () => {
  it("masks as the masker does, the first time and every other, whatever it has seen before", () => {
    const { maskedHeaders, maskedUrl } = makeHeadMasker()
    for (let round = 0; round < 3; round += 1) {
      for (const secret of Object.values(shapedSecrets)) {
        const headers = {
          accept: "application/json",
          authorization: `Bearer ${secret}`,
          cookie: `a=${secret}`,
          "x-note": `it is ${secret}`,
          "x-api-key": "short",
          "content-length": String(round)
        }
        assert.deepStrictEqual(maskedHeaders(headers), maskHeaders(headers))
        assert.notInclude(JSON.stringify(maskedHeaders(headers)), coreOf(secret))
        assert.strictEqual(maskedUrl(`/v1/x?key=${secret}`), maskUrl(`/v1/x?key=${secret}`))
      }
    }
  })

  it("goes on when there is too much to remember, and with what is too long", () => {
    const { maskedHeaders } = makeHeadMasker()
    for (let index = 0; index < 5_000; index += 1) {
      assert.deepStrictEqual(maskedHeaders({ "x-id": `${index}`, "x-long": "x".repeat(300) }), {
        "x-id": `${index}`,
        "x-long": "x".repeat(300)
      })
    }
  })
})
