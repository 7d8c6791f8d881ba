/** The module "gateway/plugin" in the project of an author who has the package as a dependency, with and without TypeScript. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, inject } from "vitest"

const running = promisify(execFile)
const root = new URL("../..", import.meta.url).pathname
const installed = inject("installed")
const place = join(installed, "lib/node_modules/onegateway")
const folder = mkdtempSync(join(tmpdir(), "gateway-author-"))
const environment = { PATH: `${join(installed, "bin")}:${process.env["PATH"]}`, HOME: folder, LANG: "C.UTF-8" }

const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)

/** What TypeScript says of the project; empty: nothing. */
const typeChecked = async (...args: ReadonlyArray<string>): Promise<string> =>
  running(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? String(error)
  )

const plugin = `import { addMetadata, blockRequest, type Context, definePlugin, modifyBody, type Result } from "gateway/plugin"

const judged = (context: Context): Result => {
  if (context.body?.["user"] === "nobody") return blockRequest({ status: 401, error: { message: "Who?", code: "nobody" } })
  return { ...modifyBody({ ...context.body, user: "somebody" }), ...addMetadata({ wire: context.wire }) }
}

export default definePlugin({
  name: "typed",
  priority: 10,
  onRequest: judged,
  onError: (context, { attempts, status }) => console.info(context.requestId, status.toFixed(), attempts)
})
`

/** Each marked line is an error, or TypeScript says that it is none. */
const wrong = `import { blockRequest, definePlugin } from "gateway/plugin"
// @ts-expect-error there is no such function
import { allowRequest } from "gateway/plugin"
// @ts-expect-error the name is missing
definePlugin({})
// @ts-expect-error there is no such event
definePlugin({ name: "one", onMonday: () => {} })
// @ts-expect-error a status is a number
definePlugin({ name: "one", onRequest: () => blockRequest({ status: "403" }) })
// @ts-expect-error requestId is no number
definePlugin({ name: "one", onRequest: (context) => void context.requestId.toFixed() })
`

describe("the module gateway/plugin of the package", () => {
  beforeAll(() => {
    mkdirSync(join(folder, "node_modules"))
    symlinkSync(place, join(folder, "node_modules/gateway"))
    mkdirSync(join(folder, "src"))
    write("package.json", JSON.stringify({ name: "author", private: true, type: "module" }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("is the code that runs inside the sandbox", () => {
    const inside = readFileSync(join(root, "src/agents/plugins/sandbox/inside/sdk.js"), "utf8")
    assert.strictEqual(readFileSync(join(place, "dist/plugin.mjs"), "utf8"), inside)
  })

  it("is imported and required by plain scripts, and nothing else of the package is but its manifest", async () => {
    const names = ["addMetadata", "blockRequest", "definePlugin", "modifyBody"]
    const node = async (file: string, text: string): Promise<unknown> => {
      write(file, text)
      return JSON.parse((await running(process.execPath, ["--no-warnings", file], { cwd: folder })).stdout)
    }
    const imported = `import * as sdk from "gateway/plugin"
const { enabled, hooks, name } = sdk.definePlugin({ name: "plain", onRequest: () => sdk.blockRequest({ status: 403 }) })
const { version } = JSON.parse(readFileSync(new URL(import.meta.resolve("gateway/package.json")), "utf8"))
const refused = await import("gateway/dist/main.cjs").catch(({ code }) => code)
console.log(JSON.stringify({ names: Object.keys(sdk), enabled, name, result: hooks.onRequest(), version, refused }))
`
    assert.deepStrictEqual(await node("a.mjs", `import { readFileSync } from "node:fs"\n${imported}`), {
      names,
      enabled: true,
      name: "plain",
      result: { blocked: true, response: { status: 403 } },
      version: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version,
      refused: "ERR_PACKAGE_PATH_NOT_EXPORTED"
    })
    const required = `console.log(JSON.stringify(Object.keys(require("gateway/plugin")).filter((name) => name !== "__esModule")))`
    assert.deepStrictEqual(await node("a.cjs", required), names)
  })

  it("has types: a plugin in TypeScript is compiled, and taken by the gateway", { timeout: 120_000 }, async () => {
    const strict = ["strict", "exactOptionalPropertyTypes", "noUncheckedIndexedAccess", "verbatimModuleSyntax"]
    const compilerOptions = {
      ...Object.fromEntries(strict.map((name) => [name, true])),
      module: "nodenext",
      target: "es2022",
      lib: ["es2023"],
      types: [],
      rootDir: "src",
      outDir: "out"
    }
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }))
    write("src/console.d.ts", "declare const console: { info(...values: Array<unknown>): void }\n")
    write("src/index.ts", plugin)
    assert.strictEqual(await typeChecked(), "")

    const manifest = { name: "typed", version: "1.0.0", main: "index.js", hooks: { onRequest: true, onError: true } }
    write("out/plugin.json", JSON.stringify(manifest))
    const { stdout } = await running("gateway", ["plugin", "check", "out", "--json"], { cwd: folder, env: environment })
    assert.deepInclude(JSON.parse(stdout), { ok: true, name: "typed", warnings: [] })

    write("src/wrong.ts", wrong)
    assert.strictEqual(await typeChecked("--noEmit"), "")
    assert.strictEqual(await typeChecked("--noEmit", "--moduleResolution", "bundler", "--module", "esnext"), "")
    write("src/wrong.ts", wrong.replaceAll(/^\/\/ @ts-expect-error.*$/gm, ""))
    assert.lengthOf((await typeChecked("--noEmit")).match(/error TS/g) ?? [], 5)
  })
})
