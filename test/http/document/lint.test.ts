/** Redocly's linter with its recommended rules finds nothing in the document. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openApiJson } from "../../../src/api/OpenApiDocument.ts"

const redocly = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js")

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number }
  readonly problems: ReadonlyArray<{ readonly ruleId: string; readonly message: string }>
}

/** What the linter says of a document. It is run as a program, because that is what it is; it sends nothing home. */
const lint = (folder: string, document: string): Promise<Report> =>
  new Promise((resolve, reject) => {
    const file = join(folder, "openapi.json")
    writeFileSync(file, document)
    execFile(
      process.execPath,
      [redocly, "lint", file, "--extends", "recommended", "--format", "json"],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        maxBuffer: 64 * 1_048_576,
        timeout: 90_000
      },
      (error, stdout) => {
        const start = stdout.indexOf("{")
        if (start === -1) reject(error ?? new Error(`The linter said nothing of use: ${stdout.slice(0, 1_000)}`))
        else resolve(JSON.parse(stdout.slice(start)) as Report)
      }
    )
  })

it("the document has no errors and no warnings, and the linter would find some", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-lint-"))
  try {
    const { problems, totals } = await lint(folder, openApiJson())
    assert.deepStrictEqual(problems, [])
    assert.deepInclude(totals, { errors: 0, warnings: 0 })
    const worse = openApiJson().replace('"summary":"List combos"', '"sumary":"List combos"')
    assert.notStrictEqual(worse, openApiJson())
    assert.isAbove((await lint(folder, worse)).totals.errors, 0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
