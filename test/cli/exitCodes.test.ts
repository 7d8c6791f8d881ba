/** What scripts are told of the ways in which a gateway refuses. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-codes-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** A gateway that answers everything with one status. */
const answering = (status: number) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((_, response) => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: `Answer ${status}.`, type: "error", code: "error" } }))
      }).listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}`,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("exit codes", () => {
  it.scopedLive.each([
    [400, 2],
    [401, 4],
    [403, 4],
    [404, 2],
    [422, 2],
    [429, 5],
    [408, 124],
    [500, 1],
    [502, 1],
    [503, 1]
  ] as const)("after an answer %d is %d", ([status, expected]) =>
    Effect.gen(function* () {
      const { url } = yield* answering(status)
      const { code, stderr, stdout } = yield* typed(["combo", "delete", "x", "--url", url, "--gateway-key", "k"])
      assert.deepStrictEqual([code, stdout], [expected, ""], stderr)
      assert.notInclude(stderr, "fault of the program")
    })
  )
})
