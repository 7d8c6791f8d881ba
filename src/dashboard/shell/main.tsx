/** The entry of the page. */
import { render } from "preact"
import { begin } from "./begin.ts"
import { Page } from "./Shell.tsx"
import { restoreTyped } from "./typed.ts"

const place = document.querySelector("#page")
if (place !== null) {
  await begin()
  place.replaceChildren()
  render(<Page />, place)
  restoreTyped()
}
