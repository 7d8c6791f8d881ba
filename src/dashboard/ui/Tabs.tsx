/** Parts of a view as links: which one is shown is in the address. */
interface Properties {
  readonly label: string
  readonly tabs: ReadonlyArray<{ readonly name: string; readonly title: string; readonly url: string }>
  readonly shown: string
}

export const Tabs = ({ label, shown, tabs }: Properties) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, title, url }) => (
      <a key={name} href={url} aria-current={name === shown ? "page" : undefined}>
        {title}
      </a>
    ))}
  </nav>
)
