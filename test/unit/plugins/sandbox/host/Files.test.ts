import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { makeFiles } from "../../../../../src/agents/plugins/sandbox/host/Files.ts"
import { fileLimits } from "../../../../../src/agents/plugins/sandbox/Limits.ts"
import { callOf, openSandbox, pluginOf } from "../../../../support/Sandboxes.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"

/** A data folder with traps in it, beside a file that is not the plugin's. */
const withTraps = Effect.map(temporaryFolder, (folder) => {
  const data = join(folder, "data")
  mkdirSync(join(data, "sub"), { recursive: true })
  writeFileSync(join(folder, "secret"), "not yours")
  mkdirSync(join(folder, "data-beside"))
  writeFileSync(join(folder, "data-beside", "secret"), "not yours")
  writeFileSync(join(data, "own"), "mine")
  symlinkSync(join(folder, "secret"), join(data, "link"))
  symlinkSync("../secret", join(data, "relative"))
  symlinkSync(folder, join(data, "up"))
  symlinkSync(join(folder, "data-beside"), join(data, "sub", "beside"))
  symlinkSync("/proc/self", join(data, "proc"))
  symlinkSync("/dev/zero", join(data, "zero"))
  symlinkSync("loop", join(data, "loop"))
  symlinkSync(join(data, "own"), join(data, "inner"))
  symlinkSync(join(folder, "made-by-write"), join(data, "dangling"))
  linkSync(join(folder, "secret"), join(data, "hard"))
  return { folder, data, files: makeFiles(data) }
})

const outside = [
  "../secret",
  "..",
  "sub/../../secret",
  "./../secret",
  "sub/..//../secret",
  "/etc/passwd",
  "//etc/passwd",
  "..\\secret",
  "C:\\secret",
  "C:secret",
  "own\u0000",
  "own\u0000/../../secret",
  "link",
  "relative",
  "up/secret",
  "up/data-beside/secret",
  "sub/beside/secret",
  "../data-beside/secret",
  "proc/environ",
  "proc/root/etc/passwd",
  "proc/cwd/package.json",
  "zero",
  "loop",
  "loop/x",
  "inner",
  "dangling",
  "hard",
  "sub/" + "../".repeat(40) + "etc/passwd",
  "x".repeat(600),
  ".writing-1",
  "file:///etc/passwd",
  "%2e%2e/secret",
  "～/secret",
  "own/../../secret"
]

describe("the files of a plugin", () => {
  it.scopedLive("are only those in its own folder, by whatever path", () =>
    Effect.gen(function* () {
      const { data, files, folder } = yield* withTraps
      for (const path of outside) {
        for (const operation of ["fs.readFile", "fs.stat", "fs.writeFile", "fs.rm", "fs.mkdir"] as const) {
          const writes = operation === "fs.writeFile" || operation === "fs.mkdir"
          // A name like any other, which only looks like something else.
          if (writes && /^(?:%2e|～|file)/.test(path) && !path.startsWith("file")) continue
          const result = yield* Effect.either(files[operation]({ path, data: "x", recursive: true }))
          assert.strictEqual(result._tag, "Left", `${operation} ${path}`)
          if (result._tag === "Left") assert.notInclude(result.left.message, folder)
        }
        assert.strictEqual((yield* Effect.either(files["fs.readdir"]({ path })))._tag, "Left", path)
      }
      assert.strictEqual(readFileSync(join(folder, "secret"), "utf8"), "not yours")
      assert.strictEqual(readFileSync(join(folder, "data-beside", "secret"), "utf8"), "not yours")
      assert.isFalse(existsSync(join(folder, "made-by-write")))
      assert.strictEqual(readFileSync(join(data, "own"), "utf8"), "mine")
    })
  )

  it.scopedLive("removes a folder with links in it without following them", () =>
    Effect.gen(function* () {
      const { files, folder } = yield* withTraps
      yield* files["fs.rm"]({ path: "sub", recursive: true })
      assert.strictEqual(readFileSync(join(folder, "data-beside", "secret"), "utf8"), "not yours")
      assert.strictEqual((yield* Effect.either(files["fs.rm"]({ path: ".", recursive: true })))._tag, "Left")
    })
  )

  it.scopedLive("are read, written, listed and removed from inside the sandbox", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { sandbox } = yield* openSandbox(
        pluginOf(`onRequest: async () => {
          await fs.mkdir("a/b")
          await fs.writeFile("a/b/text.txt", "é\\u0000")
          await fs.writeFile("bytes", "/wD+", "base64")
          await fs.writeFile("own", new Uint8Array([104, 105]))
          const facts = await fs.stat("bytes")
          const problem = await fs.readFile("missing").catch((error) => [error.code, error.message])
          const again = await fs.mkdir("a/b").then(() => "there")
          const result = { text: await fs.readFile("a/b/text.txt"), bytes: await fs.readFile("bytes", { encoding: "base64" }),
            own: await fs.readFile("./own"), list: (await fs.readdir()).sort(), size: facts.size, file: facts.isFile(), folder: (await fs.stat("a")).isDirectory(), problem, again }
          await fs.rm("a", { recursive: true })
          return modifyBody({ ...result, after: await fs.readdir(".") })
        }`),
        {
          permissions: ["file-read", "file-write"],
          dataFolder: join(folder, "plugin", "data"),
          limits: { timeoutMs: 10_000 }
        }
      )
      const outcome = yield* sandbox.call(callOf({}))
      assert.strictEqual(outcome._tag, "Changed", JSON.stringify(outcome))
      assert.deepStrictEqual(JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : ""), {
        text: "é\u0000",
        bytes: "/wD+",
        own: "hi",
        list: ["a", "bytes", "own"],
        size: 3,
        file: true,
        folder: true,
        problem: ["ENOENT", "ENOENT: there is no such file or folder"],
        again: "there",
        after: ["bytes", "own"]
      })
      assert.deepStrictEqual(readdirSync(join(folder, "plugin", "data")).sort(), ["bytes", "own"])
    })
  )

  it.scopedLive("are bounded each and together, also when many are written at once", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const files = makeFiles(folder)
      const text = "x".repeat(fileLimits.fileBytes)
      const results = yield* Effect.forEach(
        Array.from({ length: 13 }, (_, index) => `file-${index}`),
        (path) => Effect.either(files["fs.writeFile"]({ path, data: text })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(
        results.filter(({ _tag }) => _tag === "Right").length,
        fileLimits.folderBytes / fileLimits.fileBytes
      )
      assert.strictEqual(readdirSync(folder).length, 10)
      // Writing over one of them needs no further room.
      yield* files["fs.writeFile"]({ path: "file-0", data: text })
      const large = yield* Effect.either(files["fs.writeFile"]({ path: "file-0", data: `${text}x` }))
      assert.strictEqual(large._tag === "Left" && large.left.code, "EFBIG")
      truncateSync(join(folder, "file-1"), fileLimits.fileBytes + 1)
      const read = yield* Effect.either(files["fs.readFile"]({ path: "file-1" }))
      assert.strictEqual(read._tag === "Left" && read.left.code, "EFBIG")
      chmodSync(folder, 0o700)
    })
  )
})
