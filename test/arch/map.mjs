/** Prints the first sentence of each file below a folder of `src`: `npm run map -- plane/attempt`. Without a folder, the folders. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const src = fileURLToPath(new URL("../../src/", import.meta.url))

/** @param {string} text */
export const firstSentence = (text) => {
  const [, comment = ""] = /\/\*\*([\s\S]*?)\*\//.exec(text) ?? []
  const plain = comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim()
  return /^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain
}

/** @param {string} folder */
export const filesBelow = (folder) =>
  readdirSync(join(src, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && statSync(join(src, folder, path)).isFile())
    .sort()

const [folder] = process.argv.slice(2)
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (folder === undefined) {
    for (const top of readdirSync(src).sort()) {
      console.log(
        `${top}: ${readdirSync(join(src, top))
          .map((name) => name.replace(/\.ts$/, ""))
          .join(" ")}`
      )
    }
  } else {
    for (const path of filesBelow(folder)) {
      console.log(`${path}  ${firstSentence(readFileSync(join(src, folder, path), "utf8"))}`)
    }
  }
}
