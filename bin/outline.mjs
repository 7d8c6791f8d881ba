// Compiles native/outline/outline.ts to src/wire/json/outline/module.generated.ts. Run it after a change there: `node bin/outline.mjs`.
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import asc from "assemblyscript/asc"

const root = fileURLToPath(new URL("..", import.meta.url))
const generated = `${root}src/wire/json/outline/module.generated.ts`

/** The module as text of a source file. */
export const outlineModule = async () => {
  let binary = null
  const { error, stderr } = await asc.main(
    [
      "native/outline/outline.ts",
      "-O3",
      "--noAssert",
      "--runtime",
      "stub",
      "--enable",
      "simd",
      "--use",
      "abort=",
      "--initialMemory",
      "4",
      "--outFile",
      "outline.wasm"
    ],
    {
      readFile: (name) => {
        try {
          return readFileSync(`${root}${name}`, "utf8")
        } catch {
          return null
        }
      },
      writeFile: (name, contents) => {
        if (name.endsWith(".wasm")) binary = contents
      },
      listFiles: () => []
    }
  )
  if (error !== null || binary === null) throw new Error(`native/outline does not compile: ${stderr.toString()}`)
  const lines = Buffer.from(binary)
    .toString("base64")
    .match(/.{1,116}/g)
    .map((line) => `  "${line}"`)
  return [
    "/** `native/outline/outline.ts`, compiled by `bin/outline.mjs`. Not written by hand. */",
    "export const moduleBase64: string = [",
    lines.join(",\n"),
    '].join("")',
    ""
  ].join("\n")
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(generated, await outlineModule())
