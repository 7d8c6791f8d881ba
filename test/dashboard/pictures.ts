/** Keeps a picture of each view as a test has seen it, for people to look at. Version control leaves the folder out. */
import { join } from "node:path"
import type { Page } from "playwright-core"
import { project } from "../cli/support.ts"

export const picturesFolder = join(project, ".gateway/pictures")

/** Keeps what is seen of a page, as `.gateway/pictures/<look>/<name>.png`. */
export const keepPicture = async (page: Page, look: string, name: string): Promise<void> => {
  await page.screenshot({ path: join(picturesFolder, look, `${name}.png`), animations: "disabled", fullPage: true })
}
