/** `gateway files` against a real gateway, and against one whose connections break. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as Terminal from "../support/Terminal.ts"
import * as Gateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"
import { fed, program } from "./support.ts"
import { launch } from "./built.ts"

const { dataDir, main, run, start } = program()
const patienceMs = 60_000

/** A folder of the person, with the environment of commands that ask the gateway at `url`. */
const personAt = (url: string, key = Gateway.adminKey) => {
  const folder = dataDir()
  const env = {
    PATH: process.env["PATH"] ?? "",
    DATA_DIR: folder,
    HOME: folder,
    GATEWAY_URL: url,
    GATEWAY_ADMIN_KEY: key
  }
  const files = (...words: ReadonlyArray<string>) => run(["files", ...words], env)
  const made = async (...words: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await files(...words, "--json")
    assert.strictEqual(code, 0, stderr)
    return JSON.parse(stdout)
  }
  return { folder, env, files, made, path: (name: string) => join(folder, name) }
}

const scenario = (
  name: string,
  config: Parameters<typeof Gateway.start>[0],
  test: (person: ReturnType<typeof personAt>, gateway: Gateway.TestGateway) => Promise<void>
): void => {
  it.scopedLive(
    name,
    () =>
      Effect.flatMap(Gateway.start(config), (gateway) => Effect.promise(() => test(personAt(gateway.url), gateway))),
    patienceMs
  )
}

describe("gateway files", () => {
  scenario("uploads, lists, shows, fetches and deletes", {}, async ({ env, files, folder, made, path }) => {
    const bytes = randomBytes(3_000_000)
    writeFileSync(path('odd "na\u001bme".bin'), bytes)
    writeFileSync(path("lines.jsonl"), "{}\n")
    const { files: uploaded } = await made(
      "put",
      path('odd "na\u001bme".bin'),
      path("lines.jsonl"),
      "--purpose",
      "batch",
      "--expires-after",
      "7d"
    )
    const [odd, lines] = uploaded
    assert.deepInclude(odd, { filename: "odd %22na%1Bme%22.bin", bytes: 3_000_000, purpose: "batch" })
    assert.strictEqual(lines.expires_at - lines.created_at, 604_800)
    const piped = await fed(main, ["files", "put", "-", "--name", "notes.txt", "-o", "name"], env, "from a pipe")
    assert.deepStrictEqual([piped.code, piped.stderr], [0, ""])
    assert.match(String(piped.stdout), /^file-[\da-f]{32}\n$/)

    const { data } = await made("list")
    assert.deepStrictEqual(
      data.map(({ bytes: size, filename, purpose }: Record<string, unknown>) => [filename, size, purpose]),
      [
        ["notes.txt", 11, "user_data"],
        ["lines.jsonl", 3, "batch"],
        ["odd %22na%1Bme%22.bin", 3_000_000, "batch"]
      ]
    )
    assert.lengthOf((await made("list", "--purpose", "batch", "--limit", "1")).data, 1)
    assert.deepStrictEqual(await made("show", "lines.jsonl"), lines)
    assert.deepStrictEqual(await made("show", lines.id), lines)

    const fetched = await files("get", odd.id, path("copy.bin"))
    assert.deepStrictEqual([fetched.code, fetched.stdout], [0, ""], fetched.stderr)
    assert.isTrue(readFileSync(path("copy.bin")).equals(bytes))
    const inPipe = await files("get", "notes.txt")
    assert.deepStrictEqual([inPipe.code, inPipe.stdout, inPipe.stderr], [0, "from a pipe", ""])
    mkdirSync(path("sub"))
    assert.strictEqual((await files("get", "notes.txt", "-o", path("sub"))).code, 0)
    assert.strictEqual(readFileSync(path("sub/notes.txt"), "utf8"), "from a pipe")

    writeFileSync(path("there.txt"), "mine")
    const refused = await files("get", "notes.txt", path("there.txt"))
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.stderr, "--force")
    assert.strictEqual(readFileSync(path("there.txt"), "utf8"), "mine")
    symlinkSync(path("there.txt"), path("link.txt"))
    assert.strictEqual((await files("get", "notes.txt", path("link.txt"), "--force")).code, 0)
    assert.strictEqual(readFileSync(path("there.txt"), "utf8"), "from a pipe")
    assert.strictEqual((await files("get", "notes.txt", "-o", "/dev/null")).code, 0)
    assert.deepStrictEqual(
      readdirSync(folder).filter((name) => name.endsWith(".part")),
      []
    )

    const removed = await made("rm", "notes.txt", lines.id)
    assert.lengthOf(removed.files, 2)
    assert.lengthOf((await made("list")).data, 1)
    const gone = await files("show", lines.id)
    assert.deepStrictEqual([gone.code, gone.stdout], [2, ""])
    assert.include(gone.stderr, "There is no file")
  })

  scenario(
    "refuses before it begins, and says why the gateway refuses",
    { maxUploadBytes: 1_048_576 },
    async (person) => {
      const { files, folder, path } = person
      writeFileSync(path("small.txt"), "x")
      writeFileSync(path("large.bin"), Buffer.alloc(5_000_000))
      for (const [words, message] of [
        [["put", path("large.bin")], "larger than 1 MiB"],
        [["put", path("small.txt"), "--purpose", "nonsense"], "'purpose' must be one of"],
        [["put", path("small.txt"), "--expires-after", "soon"], "no time such as 12h"],
        [["put", path("small.txt"), "--expires-after", "5m"], "from 3600"],
        [["put", path("none.txt")], "cannot be read"],
        [["put", folder], "is no file"],
        [["put", path("small.txt"), path("small.txt"), "--name", "x"], "one file"],
        [["get", "x", "-", "-o", "-"], "one of them"],
        [["get", "none.txt"], "no file 'none.txt'"]
      ] as const) {
        const { code, stderr, stdout } = await files(...words)
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.include(stderr, message)
      }
      assert.lengthOf((await person.made("list")).data, 0)
    }
  )

  scenario("fits tables of 80 and 40 columns, with ids that the next command takes", {}, async (person, { url }) => {
    const { path } = person
    for (const name of ["a-rather-long-name-of-a-file-that-says-it-all.jsonl", "b.txt"]) {
      writeFileSync(path(name), name)
      assert.strictEqual((await person.files("put", path(name))).code, 0)
    }
    const shown = (columns: number, ...words: ReadonlyArray<string>) =>
      Effect.runPromise(typed(["files", ...words, "--url", url, "--gateway-key", Gateway.adminKey], columns))
    for (const columns of [80, 40]) {
      const { stdout } = await shown(columns, "list")
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, columns, line)
      const [, id = ""] = /^b\.txt .* (file-\S+)$/m.exec(stdout) ?? []
      assert.isBelow(id.length, 37)
      assert.include((await shown(columns, "show", id)).stdout, "b.txt")
    }
  })
})

/** A gateway of one file whose content is given by `content`. */
const keeping = (bytes: Buffer, content: Fake.Answer) =>
  Effect.map(Fake.start, (fake) => {
    const file = {
      id: `file-${"0".repeat(32)}`,
      object: "file",
      bytes: bytes.length,
      created_at: 1_760_000_000,
      filename: "../../evil\u001b.bin",
      purpose: "batch",
      expires_at: null,
      status: "processed"
    }
    fake.always((response, request) =>
      request.url.endsWith("/content") ? content(response, request) : Fake.json(file)(response, request)
    )
    return { fake, file, person: personAt(fake.origin) }
  })

const etagOf = (bytes: Buffer): string => `"${createHash("sha256").update(bytes).digest("hex")}"`

describe("a download that breaks", () => {
  it.scopedLive(
    "goes on where it broke, and is whole",
    () =>
      Effect.gen(function* () {
        const bytes = randomBytes(500_000)
        const etag = etagOf(bytes)
        const { fake, file, person } = yield* keeping(bytes, (response, { headers }) => {
          const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0)
          response.writeHead(from === 0 ? 200 : 206, { etag, "content-length": String(bytes.length - from) })
          if (from > 300_000) return void response.end(bytes.subarray(from))
          response.write(bytes.subarray(from, from + 200_000), () => response.socket?.end())
        })
        yield* Effect.promise(async () => {
          const { code, stderr } = await run(["files", "get", file.id, "-o", person.folder], person.env)
          assert.strictEqual(code, 0, stderr)
          assert.isTrue(readFileSync(person.path("evil.bin")).equals(bytes))
          const asked = fake.requests.filter(({ url }) => url.endsWith("/content"))
          assert.isAtLeast(asked.length, 3)
          assert.isUndefined(asked[0]?.headers.range)
          for (const { headers } of asked.slice(1)) {
            assert.match(headers.range ?? "", /^bytes=[1-9]\d*-$/)
            assert.strictEqual(headers["if-range"], etag)
          }
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "leaves nothing when it does not end, is another file, or is stopped",
    () =>
      Effect.gen(function* () {
        const bytes = randomBytes(1_000)
        let answer: Fake.Answer = (response) =>
          void response.writeHead(200, { etag: etagOf(bytes) }).end(randomBytes(1_000))
        const { fake, file, person } = yield* keeping(bytes, (response, request) => answer(response, request))
        yield* Effect.promise(async () => {
          const get = () => run(["files", "get", file.id, "-o", person.path("x.bin")], person.env)
          const other = await get()
          assert.deepStrictEqual([other.code, readdirSync(person.folder)], [1, []])
          assert.include(other.stderr, "SHA-256")

          answer = (response) => {
            response.writeHead(200, { etag: etagOf(bytes), "content-length": "1000" })
            response.write("x", () => response.socket?.end())
          }
          const broken = await get()
          assert.deepStrictEqual([broken.code, readdirSync(person.folder)], [1, []])
          assert.include(broken.stderr, "another one now")

          const seen = fake.requests.length
          answer = (response) => void response.writeHead(200, { "content-length": "1000" }).write("x")
          const child = start(["files", "get", file.id, "-o", person.path("x.bin")], person.env)
          const ended = once(child, "exit")
          await fake.received(seen + 2)
          await eventually(
            "the file under its temporary name",
            () => readdirSync(person.folder),
            (names) => names.length > 0
          )
          child.kill("SIGINT")
          assert.deepStrictEqual([(await ended)[0], readdirSync(person.folder)], [130, []])
        })
      }),
    patienceMs
  )
})

describe("on a terminal", () => {
  it.scopedLive(
    "shows a bar while a file is on its way",
    () =>
      Effect.gen(function* () {
        const rest = Fake.makeLatch()
        // It reads no more than a socket holds until it is told to.
        const server = createServer((request, response) => {
          void rest.opened.then(() => request.resume())
          request.on("end", () =>
            response.end(
              JSON.stringify({
                id: "file-1",
                object: "file",
                bytes: 1,
                created_at: 1,
                filename: "big.bin",
                purpose: "batch",
                expires_at: null,
                status: "processed"
              })
            )
          )
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
        yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
        const person = personAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
        writeFileSync(person.path("big.bin"), "")
        truncateSync(person.path("big.bin"), 100 * 1_048_576)
        const terminal = yield* Terminal.open([...launch, "files", "put", person.path("big.bin")], {
          cwd: person.folder,
          env: person.env,
          columns: 80
        })
        const line = yield* terminal.shows(/big\.bin \[█*·+\] +\d+ % +[\d.]+ [KM]iB of 100\.0 MiB/)
        assert.isAtMost(Math.max(...line.split("\n").map((each) => each.length)), 80)
        rest.open()
        assert.strictEqual(yield* terminal.ended, 0)
        assert.notInclude(terminal.screen(), "█")
        assert.include(terminal.screen(), "big.bin is uploaded.")
        server.close()
      }),
    patienceMs
  )
})
