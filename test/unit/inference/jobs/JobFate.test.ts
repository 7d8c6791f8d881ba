import { assert, describe, it } from "@effect/vitest"
import { type EndedRequest, fateOf } from "../../../../src/plane/jobs/JobFate.ts"

const ended: EndedRequest = {
  status: 502,
  hasCalled: true,
  isCancelled: false,
  isStopping: false,
  isInTime: true,
  accepted: null
}

const accepted = {
  connectionId: "c",
  provider: "openai",
  model: "sora-2",
  ticket: { id: "1", poll: { method: "GET", url: "https://api.openai.com/v1/videos/1" }, cancel: null }
} as const

describe("what becomes of a job", () => {
  const cases: ReadonlyArray<readonly [what: string, request: Partial<EndedRequest>, fate: string]> = [
    ["is done when its request was answered", { status: 200 }, "completed"],
    ["is done although the gateway stops", { status: 200, hasCalled: false, isStopping: true }, "completed"],
    ["fails with its request", {}, "failed"],
    ["is cancelled when somebody did that", { isCancelled: true }, "cancelled"],
    ["goes on at the next start where no provider was asked", { hasCalled: false, isStopping: true }, "at_start"],
    ["fails where the gateway stops after a provider was asked", { isStopping: true }, "failed"],
    ["is tried again while its connection is held back", { status: 503, hasCalled: false, accepted }, "soon"],
    ["is tried again when its connection is at a limit", { status: 429, hasCalled: false, accepted }, "soon"],
    [
      "is not tried again when its time is over",
      { status: 503, hasCalled: false, accepted, isInTime: false },
      "failed"
    ],
    [
      "is not tried again when it was cancelled",
      { status: 503, hasCalled: false, accepted, isCancelled: true },
      "cancelled"
    ],
    ["is not tried again without a provider that has it", { status: 503, hasCalled: false }, "failed"],
    ["fails where its connection is gone", { status: 404, hasCalled: false, accepted }, "gone"],
    ["fails by the provider's own 404", { status: 404, accepted }, "failed"]
  ]
  for (const [what, request, fate] of cases) {
    it(`${what}`, () => assert.strictEqual(fateOf({ ...ended, ...request }), fate))
  }
})
