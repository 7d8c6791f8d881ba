/** `gateway models` against a whole gateway, on a terminal of 80 columns. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

it.scopedLive("gateway models keeps variants apart and fits 80 columns", () =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    const asked = (...words: ReadonlyArray<string>) =>
      typed(["models", ...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey], 80)
    const plain = yield* asked()
    const all = yield* asked("--all")
    assert.match(plain.stdout, /^up\/m /m)
    assert.notMatch(plain.stdout, /^auto\//m)
    assert.match(plain.stderr, /variants? left out: '--all'/)
    assert.match(all.stdout, /^auto\/fast/m)
    for (const line of `${plain.stdout}\n${all.stdout}`.split("\n")) assert.isAtMost(line.length, 80, line)
  })
)
