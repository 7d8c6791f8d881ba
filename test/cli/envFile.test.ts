/** Settings files as people write them: read, or refused with the line. None may open the gateway by being left out. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Ended, program } from "./support.ts"

const { dataDir, run, serve } = program()

const doctor = ["doctor", "--json", "--no-liveness"]
const limitMs = 120_000

const folderWith = (content: string | Buffer): string => {
  const folder = dataDir()
  writeFileSync(join(folder, ".env"), content, { mode: 0o600 })
  return folder
}

const configOf = ({ stdout }: Ended): { readonly status: string; readonly message: string } =>
  JSON.parse(stdout).checks.find(({ name }: { readonly name: string }) => name === "config")

/** What a caller without a key is answered. */
const keyless = async (url: string): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-forwarded-for": "203.0.113.9", "content-type": "application/json" },
    body: JSON.stringify({ model: "a/b", messages: [{ role: "user", content: "Hi" }] })
  })
  await response.arrayBuffer()
  return response.status
}

describe("a settings file that says REQUIRE_API_KEY", () => {
  it.each([
    ["behind a byte order mark", "\uFEFFREQUIRE_API_KEY=true\n"],
    ["as in YAML", "REQUIRE_API_KEY: true\n"],
    ["in quotes, with a comment", 'REQUIRE_API_KEY="true" # for all\n'],
    ["with the line ends of Windows", "# settings\r\nREQUIRE_API_KEY=true\r\n"],
    ["with export, after a line for something else", "export A=b\nexport REQUIRE_API_KEY='true'\n"]
  ])(
    "%s keeps the gateway closed",
    async (_, content) => {
      const DATA_DIR = folderWith(content)
      const serving = await serve({ DATA_DIR })
      assert.strictEqual(await keyless(serving.url), 401)
      await serving.stop("SIGTERM")
      assert.strictEqual(configOf(await run(doctor, { DATA_DIR, PORT: "0" })).status, "ok")
    },
    limitMs
  )
})

describe("a settings file that cannot be read", () => {
  it.each([
    ["a quote left open", 'PORT=0\nREQUIRE_API_KEY="true\n', 2],
    ["curly quotes", "REQUIRE_API_KEY=\u201Ctrue\u201D\n", 1],
    ["a line that is none", "# settings\n\nREQUIRE_API_KEY true\n", 3],
    ["UTF-16", Buffer.from("\uFEFFREQUIRE_API_KEY=true\n", "utf16le"), 1]
  ] as ReadonlyArray<readonly [string, string | Buffer, number]>)(
    "for %s stops the start, and the doctor has a row of it",
    async (_, content, line) => {
      const DATA_DIR = folderWith(content)
      const served = await run(["serve", "--port", "0", "--no-open"], { DATA_DIR })
      assert.strictEqual(served.code, 1, served.stdout)
      assert.strictEqual(served.stdout, "")
      const looked = await run(doctor, { DATA_DIR, PORT: "0" })
      assert.strictEqual(looked.code, 1)
      for (const words of [served.stderr, configOf(looked).message]) {
        assert.include(words, join(DATA_DIR, ".env"))
        assert.include(words, `line ${line}`)
        assert.notInclude(words, "\u201Ctrue")
      }
      assert.strictEqual(configOf(looked).status, "fail")
    },
    limitMs
  )
})

describe("names of variables that are nearly right", () => {
  it(
    "are told at the start and by the doctor, from the file and the environment",
    async () => {
      const DATA_DIR = folderWith("REQUIRE_APIKEY=true\nGATEWAY_ADMIN_KEYS=0123456789abcdef\n")
      const looked = await run(doctor, { DATA_DIR, PORT: "0", GATEWAY_DRAIN_SECOND: "3" })
      const { message, status } = configOf(looked)
      assert.strictEqual(status, "warn")
      for (const name of ["REQUIRE_API_KEY", "GATEWAY_ADMIN_KEY", "GATEWAY_DRAIN_SECONDS"]) {
        assert.include(message, `Did you mean ${name}?`)
      }
      assert.notInclude(looked.stdout, "0123456789abcdef")
    },
    limitMs
  )

  it(
    "do not count when they are set to nothing",
    async () => {
      const DATA_DIR = folderWith("PORT=\nLOG_LEVEL= \nREQUIRE_API_KEY=''\nGATEWAY_ADMIN_KEY=\n")
      const ended = await run(doctor, { DATA_DIR, PORT: "0", HOST: "", GATEWAY_URL: "", LOG_FORMAT: " " })
      assert.deepStrictEqual([ended.code, configOf(ended).status], [0, "ok"], ended.stdout)
    },
    limitMs
  )
})
