/** Faults of a page by axe, WCAG 2.2, levels A and AA. */
import AxeBuilder from "axe-core"
import type { Page } from "playwright-core"

/** Rules of WCAG 2.2, levels A and AA. */
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

export const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AxeBuilder.source)
  return page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as {
      readonly axe: {
        run: (
          context: Document,
          options: object
        ) => Promise<{
          violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string; failureSummary?: string }> }>
        }>
      }
    }
    const { violations: found } = await axe.run(document, { runOnly: { type: "tag", values: tags } })
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ failureSummary, html }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`)
    )
  }, rules)
}
