/** Icons as paths of a 16 px square. What an icon means stands beside it as a word, or in its button's label. */
const paths = {
  home: "M2 7.5 8 2l6 5.5V14h-4v-4H6v4H2z",
  requests: "M2 4h12M2 8h12M2 12h7",
  providers: "M5 2v4M11 2v4M3 6h10v2a5 5 0 0 1-10 0zM8 13v2",
  routing: "M2 8h4M6 8c3 0 2-4 5-4h3M6 8c3 0 2 4 5 4h3M12 2l2 2-2 2M12 10l2 2-2 2",
  keys: "M6 10a3.5 3.5 0 1 1 3.2-4.9L14 5v3h-2v2H9.6A3.5 3.5 0 0 1 6 10zM5.5 6.5h.01",
  playground: "M4 2l9 6-9 6z",
  inspector: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
  system:
    "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  person: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14a5.5 5.5 0 0 1 11 0",
  good: "M3 8.5 6.5 12 13 4.5",
  warning: "M8 2 15 14H1zM8 6.5v3.5M8 12h.01",
  bad: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  info: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 7.5V11M8 5h.01",
  wait: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 4.5V8l2.5 2",
  copy: "M5 5V2h9v9h-3M2 5h9v9H2z",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  next: "M6 3l5 5-5 5",
  previous: "M10 3L5 8l5 5",
  theme: "M8 1.5v13a6.5 6.5 0 0 0 0-13zM8 14.5a6.5 6.5 0 0 1 0-13",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
  live: "M8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 4.5a5 5 0 0 0 0 7M11.5 4.5a5 5 0 0 1 0 7",
  leave: "M6 2H2v12h4M10 5l3 3-3 3M13 8H6",
  add: "M8 3v10M3 8h10",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  drag: "M6 3h.01M10 3h.01M6 8h.01M10 8h.01M6 13h.01M10 13h.01",
  none: "M3 8h10"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
