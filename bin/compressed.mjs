// The smallest form of large files of a build (brotli, 11). It takes seconds to make, and is therefore kept by what it is made of.
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, constants } from "node:zlib"

const cache = fileURLToPath(new URL("../node_modules/.cache/compressed", import.meta.url))
const compress = promisify(brotliCompress)

const known = (file) => {
  try {
    return readFileSync(file)
  } catch (error) {
    if (error?.code !== "ENOENT") throw error
    return null
  }
}

export const compressed = async (bytes) => {
  const file = join(cache, `${createHash("sha256").update(bytes).digest("hex")}.br`)
  const before = known(file)
  if (before !== null) return before
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const made = await compress(bytes, { params })
  mkdirSync(cache, { recursive: true })
  writeFileSync(`${file}.${process.pid}`, made)
  renameSync(`${file}.${process.pid}`, file)
  return made
}
