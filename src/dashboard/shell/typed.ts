/**
 * Keeps what was typed over a load of the page: in the browser's entry of this page alone, which goes with its tab, and never a password. A field is
 * known by its label, because another version of the page may name it otherwise.
 */
type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

interface Typed {
  readonly name: string
  readonly value: string
}

interface Kept {
  readonly path: string
  readonly fields: ReadonlyArray<Typed>
}

const member = "typed"
/** Browsers keep less than some MiB. */
const mostChars = 500_000
/** Fields that come later than this after the load were not there before. */
const waitsMs = 15_000

const unkept: ReadonlySet<string> = new Set(["password", "file", "hidden", "submit", "button", "radio"])

const isTicked = (field: Field): field is HTMLInputElement =>
  field instanceof HTMLInputElement && field.type === "checkbox"

const fieldsOf = (root: ParentNode): ReadonlyArray<readonly [name: string, field: Field]> => {
  const seen = new Map<string, number>()
  return [...root.querySelectorAll<Field>("input, textarea, select")]
    .filter(({ type }) => !unkept.has(type))
    .map((field) => {
      const label = field.labels?.[0]?.textContent ?? field.getAttribute("aria-label") ?? field.id
      const kind = `${field.tagName} ${field.type} ${label}`
      const nth = seen.get(kind) ?? 0
      seen.set(kind, nth + 1)
      return [`${kind} ${nth}`, field] as const
    })
}

const valueOf = (field: Field): string => (isTicked(field) ? String(field.checked) : field.value)

const initialOf = (field: Field): string => {
  if (isTicked(field)) return String(field.defaultChecked)
  return field instanceof HTMLSelectElement ? "" : field.defaultValue
}

const stateNow = (): object => (typeof history.state === "object" && history.state !== null ? history.state : {})

/** Writes down what was typed, before the page is loaded anew. */
export const keepTyped = (): void => {
  const fields: Array<Typed> = []
  let left = mostChars
  for (const [name, field] of fieldsOf(document)) {
    const value = valueOf(field)
    if (value === initialOf(field) && value === "") continue
    left -= value.length
    if (left >= 0) fields.push({ name, value })
  }
  const kept: Kept = { path: location.pathname, fields }
  history.replaceState({ ...stateNow(), [member]: kept }, "")
}

const isKept = (value: unknown): value is Kept =>
  typeof value === "object" && value !== null && Array.isArray((value as { fields?: unknown }).fields)

const fill = (field: Field, value: string): void => {
  if (valueOf(field) === value) return
  if (isTicked(field)) field.click()
  else {
    field.value = value
    field.dispatchEvent(new Event("input", { bubbles: true }))
    field.dispatchEvent(new Event("change", { bubbles: true }))
  }
}

/** Puts back what was kept, as its fields come. */
export const restoreTyped = (): void => {
  const kept = (stateNow() as Record<string, unknown>)[member]
  if (!isKept(kept) || kept.path !== location.pathname) return
  const { [member]: _, ...others } = stateNow() as Record<string, unknown>
  history.replaceState(others, "")
  const left = new Map(kept.fields.map(({ name, value }) => [name, value]))
  let timer: number | undefined
  // One at a time: a view draws between two, because a field's own change is made to the values that were drawn last.
  const putNext = (): void => {
    timer = undefined
    const next = fieldsOf(document).find(([name, field]) => left.has(name) && field !== document.activeElement)
    if (next === undefined) return
    const [name, field] = next
    fill(field, left.get(name) ?? "")
    left.delete(name)
    if (left.size === 0) observer.disconnect()
    else soon()
  }
  const soon = (): void => {
    timer ??= globalThis.setTimeout(putNext)
  }
  const observer = new MutationObserver(soon)
  observer.observe(document.body, { childList: true, subtree: true })
  globalThis.setTimeout(() => {
    observer.disconnect()
    left.clear()
  }, waitsMs)
  soon()
}

/** Loads the page anew, with what was typed. */
export const reload = (): void => {
  keepTyped()
  location.reload()
}
