/** The choices of look: theme, height of rows, and whether keys count. */
import { useEffect, useRef } from "preact/hooks"
import { Icon } from "../ui/Icon.tsx"
import { density, hasShortcuts, setDensity, setShortcuts, setTheme, theme } from "../ui/preferences.ts"
import { words } from "../words/shell.ts"

interface ChoiceProperties<A extends string> {
  readonly title: string
  readonly name: string
  readonly options: Readonly<Record<A, string>>
  readonly value: A
  readonly choose: (value: A) => void
}

const Choice = <A extends string>({ choose, name, options, title, value }: ChoiceProperties<A>) => (
  <fieldset>
    <legend>{title}</legend>
    {(Object.keys(options) as Array<A>).map((option) => (
      <label key={option}>
        <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
        {options[option]}
      </label>
    ))}
  </fieldset>
)

export const Look = () => {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const onPress = ({ target }: Event): void => {
      if (menu.current !== null && target instanceof Node && !menu.current.contains(target)) menu.current.open = false
    }
    document.addEventListener("pointerdown", onPress)
    return () => document.removeEventListener("pointerdown", onPress)
  }, [])
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || menu.current?.open !== true) return
        menu.current.open = false
        menu.current.querySelector("summary")?.focus()
      }}
    >
      <summary class="button plain" title={words.look.title}>
        <Icon name="theme" /> <span class="narrow-hidden">{words.look.title}</span>
      </summary>
      <div class="menu-card stack">
        <Choice
          title={words.look.theme}
          name="theme"
          options={words.look.themes}
          value={theme.value}
          choose={setTheme}
        />
        <Choice
          title={words.look.density}
          name="density"
          options={words.look.densities}
          value={density.value}
          choose={setDensity}
        />
        <label>
          <input
            type="checkbox"
            checked={hasShortcuts.value}
            onChange={(event) => setShortcuts(event.currentTarget.checked)}
          />
          {words.look.shortcuts}
        </label>
      </div>
    </details>
  )
}
