/** Who keeps what callers say, and that none of them can without a permission. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Principal } from "../../../src/subjects/keys/entity.ts"
import {
  fromMark,
  mayKeepContent,
  mayShowContent,
  operatorsOwn
} from "../../../src/contract/domain/ContentPermission.ts"

const root = fileURLToPath(new URL("../../../src", import.meta.url))

const sources = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }))

const textOf = (path: string): string => sources.find((source) => source.path === path)?.text ?? ""

/** Every store of words, and how it takes the permission. A new one belongs here and into docs/security.md. */
const keepers: Readonly<Record<string, RegExp>> = {
  "plane/cache/AnswerCache.ts": /readonly keep: \(\s*permission: ContentPermission,/,
  "plane/compression/RawOutputs.ts": /readonly keep: \(\s*permission: ContentPermission,/,
  "plane/compression/Stability.ts": /\bof\(_permission: ContentPermission\)/,
  "plane/features/idempotency/Idempotency.ts": /const keep = \(\s*[^()]*,\s*_permission: ContentPermission,/,
  "plane/features/handoff/Summaries.ts": /readonly keep: \(permission: ContentPermission,/,
  "plane/features/vision/Descriptions.ts": /memoryFor: \(permission: ContentPermission \| null\)/,
  "plane/state/kept/OpaqueState.ts": /readonly remember: \(\s*permission: ContentPermission,/,
  "plane/state/kept/ResponseStore.ts": /readonly remember: \(permission: ContentPermission,/,
  "plane/tap/RecordedExchange.ts": /constructor\(\s*permission: ContentPermission,/,
  "plane/media/MediaCache.ts": /readonly put: \(permission: ContentPermission,/,
  "plane/search/Searches.ts": /const keep = \([^()]*, _permission: ContentPermission,/,
  "plane/jobs/MediaJobs.ts": /mayKeepContent\(principal\)/,
  "observe/inspector/Inspector.ts": /readonly begin: \(permission: ContentPermission,/,
  "observe/inspector/Intake.ts": /readonly begin: \(permission: ContentPermission,/,
  "plane/memory/Memories.ts": /readonly write: \(\s*permission: ContentPermission,/,
  "agents/plugins/registry/LogRing.ts": /add\(_permission: ContentPermission,/,
  "agents/plugins/hooks/HookRun.ts": /if \(this\.permission === null\) return null/,
  "agents/a2a/Tasks.ts": /readonly permission: ContentPermission \| null/,
  "subjects/evals/EvalRunner.ts": /mayKeepContent\(principal\)/,
  "plane/failover/OutcomeRecorder.ts": /mayShowContent\(work\.exchange\.principal\)/
}

describe("the permission to keep what is said", () => {
  it("is held by everybody but keys with noLog", () => {
    const key = (noLog: boolean) => ({ _tag: "Key", key: { noLog } }) as unknown as Principal
    assert.isNull(mayKeepContent(key(true)))
    assert.isNotNull(mayKeepContent(key(false)))
    for (const _tag of ["Anonymous", "AdminKey", "Owner"] as const) assert.isNotNull(mayKeepContent({ _tag }))
    assert.isNotNull(operatorsOwn)
    assert.isNull(fromMark(false))
  })

  it("for what people may see is held by no key of a team that shows its content to nobody", () => {
    const key = (noLog: boolean, readers: string | null) =>
      ({
        _tag: "Key",
        key: { noLog, owners: readers === null ? null : { content: { readers } } }
      }) as unknown as Principal
    assert.isNull(mayShowContent(key(false, "none")))
    assert.isNotNull(mayShowContent(key(false, "admins")))
    assert.isNotNull(mayShowContent(key(false, null)))
    assert.isNull(mayShowContent(key(true, "admins")))
    assert.isNotNull(mayShowContent({ _tag: "AdminKey" }))
  })

  for (const [path, takes] of Object.entries(keepers)) {
    it(`is taken by ${path}`, () => assert.match(textOf(path), takes))
  }

  it("is made in one place, which alone asks for noLog", () => {
    const asking = sources.filter(({ text }) => /\bkey\.noLog\b|\?\.noLog\b/.test(text)).map(({ path }) => path)
    // The second shows the setting of a key.
    assert.deepStrictEqual(asking.toSorted(), ["contract/domain/ContentPermission.ts", "entry/handling/Views.ts"])
    const making = sources.filter(({ text }) => /as ContentPermission\b/.test(text)).map(({ path }) => path)
    assert.deepStrictEqual(making, ["contract/domain/ContentPermission.ts"])
  })

  it("is taken for the operator's own by those only whose content is no caller's", () => {
    const own = sources.filter(({ text }) => /\boperatorsOwn\b/.test(text)).map(({ path }) => path)
    assert.deepStrictEqual(own.toSorted(), [
      // What the operator has captured on this machine, sent again.
      "agents/bridge/DirectReplay.ts",
      "agents/plugins/registry/TestCall.ts",
      "agents/plugins/sandbox/Selector.ts",
      "contract/domain/ContentPermission.ts",
      "observe/capture/InspectorSink.ts",
      "observe/inspector/Ingest.ts",
      // The gateway's own words for a job that is over.
      "plane/jobs/JobRecords.ts",
      "subjects/memory/service.ts"
    ])
  })
})
