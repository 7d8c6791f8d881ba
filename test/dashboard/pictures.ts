/** Keeps a picture of each view as a test has seen it, for people to look at. Version control leaves the folder out. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { project } from "../cli/support.ts"
import { smallPng } from "./smallPng.ts"

export const picturesFolder = join(project, ".gateway/pictures")

/** Keeps what is seen of a page, as `.gateway/pictures/<look>/<name>.png`. */
export const keepPicture = async (page: Page, look: string, name: string): Promise<void> => {
  await page.screenshot({ path: join(picturesFolder, look, `${name}.png`), animations: "disabled", fullPage: true })
}

/** Pictures that docs/dashboard.md shows; `UPDATE_PICTURES=1` takes them anew. */
const shownFolder = join(project, "docs/pictures")

/** Keeps what is in sight of a page, small. */
export const keepView = async (page: Page, name: string): Promise<void> => {
  const picture = smallPng(await page.screenshot({ animations: "disabled" }))
  const folders = [join(picturesFolder, "docs"), ...(process.env["UPDATE_PICTURES"] === "1" ? [shownFolder] : [])]
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${name}.png`), picture)
  }
}
