import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { integrityOf } from "../../../../src/agents/plugins/files/PluginFiles.ts"
import { makePluginFolder } from "../../../../src/agents/plugins/files/PluginFolder.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const before = new Map([
  ["plugin.json", "{}"],
  ["index.js", "before"]
])
const after = new Map([
  ["plugin.json", "{}"],
  ["lib/index.js", "after"]
])
const [hashBefore, hashAfter] = [integrityOf(before), integrityOf(after)]

const installed = Effect.gen(function* () {
  const dataDir = yield* temporaryFolder
  const folder = makePluginFolder(dataDir)
  yield* folder.stage("one", before)
  yield* folder.commit("one")
  const textNow = Effect.map(folder.read("one"), (found) =>
    found._tag === "Files" ? [...found.files].find(([path]) => path !== "plugin.json")?.[1] : found._tag
  )
  return { dataDir, folder, root: join(dataDir, "plugins"), textNow }
})

it.scoped("a replacement that was staged and not named by the row is taken back", () =>
  Effect.gen(function* () {
    const { folder, root, textNow } = yield* installed
    yield* folder.stage("one", after)
    yield* folder.recover(new Map([["one", hashBefore]]))
    assert.strictEqual(yield* textNow, "before")
    assert.deepStrictEqual(readdirSync(join(root, ".new")), [])
  })
)

it.scoped("one that the row names is finished, also between its two renames", () =>
  Effect.gen(function* () {
    for (const isBetween of [false, true]) {
      const { folder, root, textNow } = yield* installed
      yield* folder.stage("one", after)
      if (isBetween) renameSync(join(root, "one"), join(root, ".old", "one"))
      yield* folder.recover(new Map([["one", hashAfter]]))
      assert.strictEqual(yield* textNow, "after")
      assert.deepStrictEqual(readdirSync(join(root, ".old")), [])
    }
  })
)

it.scoped("a removal whose row is still there is taken back, one whose row is gone is finished with its data", () =>
  Effect.gen(function* () {
    const { dataDir, folder, textNow } = yield* installed
    mkdirSync(folder.dataFolder("one"), { recursive: true })
    yield* folder.setAside("one")
    yield* folder.recover(new Map([["one", hashBefore]]))
    assert.strictEqual(yield* textNow, "before")
    assert.isTrue(existsSync(join(dataDir, "plugin-data", "one")))
    yield* folder.setAside("one")
    yield* folder.recover(new Map())
    assert.strictEqual(yield* textNow, "Missing")
    assert.isFalse(existsSync(join(dataDir, "plugin-data", "one")))
  })
)

it.scoped("folders that somebody put there stay, and links in them are no files", () =>
  Effect.gen(function* () {
    const { dataDir, folder, root } = yield* installed
    mkdirSync(join(root, "mine"))
    writeFileSync(join(root, "mine", "a.js"), "")
    yield* folder.recover(new Map())
    assert.deepStrictEqual(yield* folder.names, ["mine", "one"])
    symlinkSync(join(dataDir, "plugins"), join(root, "mine", "out"))
    assert.strictEqual((yield* folder.read("mine"))._tag, "NotReadable")
  })
)
