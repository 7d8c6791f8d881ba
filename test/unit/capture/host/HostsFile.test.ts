import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { spawnSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readHostName } from "../../../../src/observe/capture/host/CustomHostName.ts"
import * as HostJournal from "../../../../src/observe/capture/host/HostJournal.ts"
import * as HostsFile from "../../../../src/observe/capture/host/HostsFile.ts"
import { finishInPlace } from "../../../../src/observe/capture/host/undo/files.mjs"
import {
  linesOf,
  readBlock,
  shadowedHosts,
  withBlock,
  withoutBlock
} from "../../../../src/observe/capture/host/undo/hostsBlock.mjs"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const host = "api.example.com"
const lines = linesOf(host)

const contents: ReadonlyArray<readonly [name: string, text: string]> = [
  ["a usual file", "127.0.0.1\tlocalhost\n::1 localhost\n"],
  ["no line end at the end", "127.0.0.1 localhost"],
  ["Windows line ends", "127.0.0.1 localhost\r\n# a comment\r\n"],
  ["Windows line ends and none at the end", "127.0.0.1 localhost\r\n# a comment"],
  [
    "mixed line ends, a byte order mark, bytes that are no UTF-8",
    "\u00ef\u00bb\u00bf127.0.0.1 a\r\n\u00ff\u00fe b\n\n\n"
  ],
  ["nothing", ""],
  ["only line ends", "\n\n"],
  ["the same host twice", `10.0.0.1 ${host}\n10.0.0.2 ${host}\n`]
]

describe("the block of custom hosts", () => {
  it.each(contents)("goes into and out of a file with %s without a trace", (_, text) => {
    const added = withBlock(text, lines, [])
    assert.isTrue(added.startsWith(text))
    const block = readBlock(added)
    assert.deepStrictEqual(block, { state: "one", lines })
    assert.strictEqual(withoutBlock(added, lines), text)
    assert.strictEqual(withoutBlock(text, lines), text)
  })

  it.each(contents)("is replaced in its place in a file with %s", (_, text) => {
    const next = linesOf("other.example")
    const changed = withBlock(withBlock(text, lines, []), next, lines)
    assert.deepStrictEqual(readBlock(changed), { state: "one", lines: next })
    assert.strictEqual(withoutBlock(changed, next), text)
    assert.strictEqual(withBlock(changed, [], next), text)
  })

  it.each(contents)("keeps what was written before, after and inside it in a file with %s", (_, text) => {
    const added = withBlock(text, lines, [])
    assert.strictEqual(withoutBlock(`${added}10.0.0.3 after\n`, lines).endsWith("10.0.0.3 after\n"), true)
    assert.strictEqual(withoutBlock(`10.0.0.3 before\n${added}`, lines), `10.0.0.3 before\n${text}`)
    const inside = added.replace(`${lines[0]}`, `10.0.0.3 inside\n${lines[0]}`)
    const kept = withoutBlock(inside, lines)
    assert.include(kept, "10.0.0.3 inside\n")
    assert.notInclude(kept, "gateway")
    assert.notInclude(kept, `${lines[0]}`)
  })

  it("does not join the line before it with one that was added behind it", () => {
    const added = withBlock("127.0.0.1 localhost", lines, [])
    assert.strictEqual(withoutBlock(`${added}10.0.0.3 after`, lines), "127.0.0.1 localhost\n10.0.0.3 after")
  })

  it("leaves another gateway's lines and the marks around them", () => {
    const both = withBlock(withBlock("", lines, []), linesOf("other.example"), [])
    const rest = withoutBlock(both, linesOf("other.example"))
    assert.deepStrictEqual(readBlock(rest), { state: "one", lines })
    assert.strictEqual(withoutBlock(rest, lines), "")
  })

  it("says what is wrong with blocks, and takes all of them out", () => {
    const one = withBlock("", lines, [])
    const cases: ReadonlyArray<readonly [string, RegExp]> = [
      [`a\n${one}b\n${one}`, /two blocks/u],
      [`a\nb\n${one.slice(0, one.indexOf("# END"))}`, /does not end/u],
      [`a\nb\n${one.slice(one.indexOf("# END"))}`, /no beginning/u]
    ]
    for (const [text, problem] of cases) {
      const block = readBlock(text)
      assert.match(block.state === "broken" ? block.problem : "", problem)
      assert.strictEqual(withoutBlock(text, null), "a\nb\n")
    }
  })

  it("finds hosts that an earlier line already gives an address", () => {
    assert.deepStrictEqual(shadowedHosts(`10.0.0.1 x API.example.com # y\n`, [host, "x", "y"]), ["x", host])
    assert.deepStrictEqual(shadowedHosts(`# 10.0.0.1 ${host}\n127.0.0.1 ${host}\n`, [host]), [])
  })
})

describe("a custom host's name", () => {
  it.each(["api.example.com", "API.Example.com", "intranet", "xn--bcher-kva.example", "a-b.c1"])("takes %s", (name) =>
    assert.deepStrictEqual(readHostName(name), { ok: true, host: name.toLowerCase() })
  )

  it.each([
    "",
    "localhost",
    "a.localhost",
    "127.0.0.1",
    "10.1",
    "::1",
    "0x7f.0x1",
    "*.example.com",
    "https://example.com",
    "example.com:443",
    "example.com/x",
    "-a.example",
    "a-.example",
    "a..b",
    "example.com.",
    "a b",
    "a\n10.0.0.1 b",
    "bücher.example",
    "a".repeat(64),
    `${"a.".repeat(130)}b`
  ])("refuses %j", (name) => assert.isFalse(readHostName(name).ok))
})

const services = (dataDir: string, file: string) => {
  const config = AppConfig.layerOf({
    dataDir,
    environment: new Map([
      ["PATH", process.env["PATH"] ?? ""],
      ["GATEWAY_HOSTS_FILE", file]
    ])
  })
  return HostsFile.layer.pipe(Layer.provideMerge(HostJournal.layer), Layer.provide(config))
}

const withHosts = <A, E>(
  text: string,
  test: (
    hosts: typeof HostsFile.HostsFile.Service,
    file: string
  ) => Effect.Effect<A, E, HostJournal.HostJournal | Scope.Scope>
) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const folder = yield* temporaryFolder
    const file = join(folder, "hosts")
    writeFileSync(file, text, { mode: 0o644 })
    yield* Effect.flatMap(HostsFile.HostsFile, (hosts) => test(hosts, file)).pipe(
      Effect.scoped,
      Effect.provide(services(dataDir, file))
    )
    assert.deepStrictEqual(
      readdirSync(folder).filter((name) => name.startsWith(".")),
      []
    )
    return { dataDir, file }
  })

const inode = (file: string): bigint => statSync(file, { bigint: true }).ino

describe("the hosts file", () => {
  it.scopedLive("has the block while there are hosts, and is as it was when the scope is over", () =>
    Effect.gen(function* () {
      const { file } = yield* withHosts("127.0.0.1 localhost", (hosts, path) =>
        Effect.gen(function* () {
          chmodSync(path, 0o664)
          assert.deepStrictEqual(yield* hosts.set([host, "b.example"]), { warning: null })
          assert.deepStrictEqual(yield* hosts.names, new Set([host, "b.example"]))
          yield* hosts.set(["b.example"])
          assert.deepStrictEqual(yield* hosts.names, new Set(["b.example"]))
          yield* hosts.set([])
          assert.strictEqual(readFileSync(path, "utf8"), "127.0.0.1 localhost")
          yield* hosts.set([host])
          assert.strictEqual(statSync(path).mode & 0o777, 0o664)
          const journal = yield* HostJournal.HostJournal
          assert.lengthOf(yield* journal.entries, 1)
        })
      )
      assert.strictEqual(readFileSync(file, "utf8"), "127.0.0.1 localhost")
    })
  )

  it.scopedLive("leaves a file with two blocks as it is, says why, and repairs it when asked", () =>
    Effect.gen(function* () {
      const block = withBlock("", lines, [])
      const broken = `a\n${block}b\n${block}`
      yield* withHosts(broken, (hosts, path) =>
        Effect.gen(function* () {
          assert.match((yield* hosts.set([host])).warning ?? "", /two blocks/u)
          assert.strictEqual(readFileSync(path, "utf8"), broken)
          assert.deepStrictEqual(yield* Effect.flatMap(HostJournal.HostJournal, ({ entries }) => entries), [])
          assert.match((yield* hosts.problem) ?? "", /two blocks/u)
          assert.isTrue(yield* hosts.repair)
          assert.isFalse(yield* hosts.repair)
          assert.strictEqual(readFileSync(path, "utf8"), "a\nb\n")
          assert.deepStrictEqual(yield* hosts.set([host]), { warning: null })
        })
      )
    })
  )

  it.scopedLive("warns where the file is missing or another line holds", () =>
    Effect.gen(function* () {
      yield* withHosts(`10.0.0.1 ${host}\n`, (hosts) =>
        Effect.gen(function* () {
          assert.match((yield* hosts.set([host])).warning ?? "", /another address to api\.example\.com/u)
        })
      )
      const dataDir = yield* temporaryFolder
      const warning = yield* Effect.flatMap(HostsFile.HostsFile, (hosts) => hosts.set([host])).pipe(
        Effect.provide(services(dataDir, join(dataDir, "none")))
      )
      assert.match(warning.warning ?? "", /ENOENT.*127\.0\.0\.1 api\.example\.com; ::1 api\.example\.com/u)
    })
  )

  it.scopedLive("stays one file for all its names, also through a link", () =>
    withHosts("a\n", (hosts, path) =>
      Effect.gen(function* () {
        linkSync(path, `${path}-too`)
        const before = inode(path)
        yield* hosts.set([host])
        assert.strictEqual(inode(path), before)
        assert.include(readFileSync(`${path}-too`, "utf8"), host)
        yield* hosts.set([])
        assert.strictEqual(readFileSync(`${path}-too`, "utf8"), "a\n")
      })
    )
  )

  it.scopedLive("takes writers that come at the same time one after the other, of several gateways", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "hosts")
      const link = join(folder, "link")
      writeFileSync(file, "127.0.0.1 localhost\n")
      symlinkSync(file, link)
      const folders = yield* Effect.all(Array.from({ length: 4 }, () => temporaryFolder))
      yield* Effect.forEach(
        folders,
        (dataDir, index) =>
          Effect.gen(function* () {
            const hosts = yield* HostsFile.HostsFile
            yield* Effect.forEach(
              [1, 2, 3],
              (round) => Effect.map(hosts.set([`g${index}.r${round}.example`]), (said) => assert.isNull(said.warning)),
              { concurrency: "unbounded" }
            )
            assert.isTrue((yield* hosts.names).has(`g${index}.r3.example`))
          }).pipe(Effect.provide(services(dataDir, index % 2 === 0 ? file : link))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(readFileSync(file, "utf8"), "127.0.0.1 localhost\n")
      assert.isTrue(existsSync(link))
      assert.deepStrictEqual(readdirSync(folder).sort(), ["hosts", "link"])
    })
  )

  const module = fileURLToPath(new URL("../../../../src/observe/capture/host/undo/files.mjs", import.meta.url))
  const canMount = spawnSync("unshare", ["-m", "true"]).status === 0

  it.runIf(canMount)("is written in place where it is a mount, as in a container", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "hosts")
      const source = join(folder, "source")
      writeFileSync(file, "")
      writeFileSync(source, "127.0.0.1 localhost\n")
      const edit = `import(${JSON.stringify(module)}).then(({ editFile }) => editFile(${JSON.stringify(file)}, ${JSON.stringify(folder)}, (bytes) => Buffer.concat([bytes, Buffer.from("added\\n")])))`
      const script = `mount --bind "$0" "$1" && exec "$2" -e "$3"`
      const ran = spawnSync("unshare", ["-m", "sh", "-c", script, source, file, process.execPath, edit], {
        encoding: "utf8"
      })
      assert.strictEqual(ran.stderr, "")
      assert.strictEqual(readFileSync(source, "utf8"), "127.0.0.1 localhost\nadded\n")
      assert.deepStrictEqual(readdirSync(folder).sort(), ["hosts", "source"])
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.scopedLive(
    "finishes a write in place that was interrupted at any byte, and leaves a file that was edited since",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const file = join(folder, "hosts")
        const previous = "127.0.0.1 localhost\n# a longer line that goes\n"
        const next = "127.0.0.1 localhost\nx\n127.0.0.1 y\n"
        const pairs = [
          [previous, next],
          [next, previous]
        ] as const
        const rescue = (before: string, after: string): void =>
          writeFileSync(
            join(folder, `in-place-${Buffer.from(file).toString("base64url").slice(-150)}.json`),
            JSON.stringify({
              previous: Buffer.from(before).toString("base64"),
              next: Buffer.from(after).toString("base64")
            })
          )
        for (const [before, after] of pairs) {
          for (let written = 0; written <= after.length; written += 1) {
            const half = after.slice(0, written) + before.slice(written)
            writeFileSync(file, half)
            rescue(before, after)
            finishInPlace(folder, file)
            assert.include([before, after], readFileSync(file, "utf8"))
          }
          appendFileSync(file, "an edit\n")
          const edited = readFileSync(file, "utf8")
          rescue(before, after)
          finishInPlace(folder, file)
          assert.strictEqual(readFileSync(file, "utf8"), edited)
        }
      })
  )
})
