import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { diagnose, repair } from "../../../../src/observe/capture/host/Diagnose.ts"
import * as HostJournal from "../../../../src/observe/capture/host/HostJournal.ts"
import * as HostsFile from "../../../../src/observe/capture/host/HostsFile.ts"
import * as SystemProxy from "../../../../src/observe/capture/host/SystemProxy.ts"
import * as TrustStore from "../../../../src/observe/capture/host/TrustStore.ts"
import { linesOf, withBlock } from "../../../../src/observe/capture/host/undo/hostsBlock.mjs"
import { thisProcess } from "../../../../src/observe/capture/host/undo/owner.mjs"
import { journalFolder, writeEntry } from "../../../../src/observe/capture/host/undo/restore.mjs"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

describe("the diagnosis of what capture changes", () => {
  it.scopedLive("names what is wrong, repairs what it can, and says what it repaired", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const hosts = join(dataDir, "hosts")
      const left = join(dataDir, "left")
      const block = withBlock("", linesOf("old.example"), [])
      writeFileSync(hosts, `a\n${block}b\n${block}`)
      writeFileSync(left, "ours")
      mkdirSync(journalFolder(dataDir), { recursive: true, mode: 0o700 })
      writeEntry(journalFolder(dataDir), {
        version: 1,
        id: "000000000000001-000001-firewall-a",
        kind: "firewall",
        what: "a rule",
        createdAtMs: 1,
        owner: { ...thisProcess(), startTime: "1" },
        session: "ended",
        environment: {},
        facts: {},
        steps: [{ do: "removeFile", path: left, sha256: createHash("sha256").update("ours").digest("hex") }]
      })
      const config = AppConfig.layerOf({
        dataDir,
        environment: new Map([
          ["PATH", process.env["PATH"] ?? ""],
          ["GATEWAY_HOSTS_FILE", hosts]
        ])
      })
      const services = Layer.mergeAll(HostsFile.layer, SystemProxy.layer, TrustStore.layer).pipe(
        Layer.provideMerge(HostJournal.layer),
        Layer.provideMerge(config)
      )
      const expected = { hosts: ["api.example.com"], authority: null }
      const bad = (checks: ReadonlyArray<{ readonly id: string; readonly ok: boolean }>) =>
        checks.filter(({ id, ok }) => !ok && ["journal", "hosts-file", "custom-hosts"].includes(id)).map(({ id }) => id)
      yield* Effect.gen(function* () {
        const found = yield* diagnose(expected)
        assert.deepStrictEqual(bad(found), ["journal", "hosts-file", "custom-hosts"])
        for (const { detail, hint, ok } of found) {
          assert.strictEqual(hint === null, ok)
          assert.isAbove(detail.length, 10)
        }
        assert.deepStrictEqual((yield* repair(expected)).repaired, ["journal", "hosts-file", "custom-hosts"])
        assert.deepStrictEqual(bad(yield* diagnose(expected)), [])
        assert.deepStrictEqual((yield* repair(expected)).repaired, [])
      }).pipe(Effect.provide(services))
      assert.strictEqual(readFileSync(hosts, "utf8"), "a\nb\n")
    })
  )
})
