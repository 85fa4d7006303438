//! The colours of the interface and of data, light and dark. The page's `tokens.css` holds the same
//! values; a test compares the two.

/// An opaque colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// A colour of data in its three roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataColour {
    /// Lines, fills and markers.
    pub mark: Rgb,
    /// Text of the same hue on the surface.
    pub ink: Rgb,
    /// Text inside a filled mark.
    pub on_fill: Rgb,
}

/// All colours of one theme. Names follow the design tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theme {
    /// Page.
    pub bg: Rgb,
    /// Cards, panels, bars.
    pub surface: Rgb,
    /// Tracks and wells.
    pub sunken: Rgb,
    /// Popovers and sheets.
    pub raised: Rgb,
    /// Hairlines around cards.
    pub line: Rgb,
    /// Outlines of inputs.
    pub control: Rgb,
    /// Text.
    pub text: Rgb,
    /// Sentences.
    pub text2: Rgb,
    /// Captions and tick labels.
    pub text3: Rgb,
    /// Actions, sliders, load.
    pub accent: Rgb,
    /// The accent under the pointer.
    pub accent_hover: Rgb,
    /// Selected.
    pub accent_soft: Rgb,
    /// Text on filled buttons.
    pub on_accent: Rgb,
    /// Focus outline.
    pub focus: Rgb,
    /// Grid lines.
    pub grid: Rgb,
    /// Baselines.
    pub axis: Rgb,
    /// Good, and room that is left.
    pub ok: Rgb,
    /// Ground of the same.
    pub ok_soft: Rgb,
    /// Close calls.
    pub warn: Rgb,
    /// Ground of the same.
    pub warn_soft: Rgb,
    /// Missed and stopped.
    pub bad: Rgb,
    /// Ground of the same.
    pub bad_soft: Rgb,
    /// Withheld.
    pub held: Rgb,
    /// Ground of the same.
    pub held_soft: Rgb,
    /// Data colours; index 0 is the reference, 1 to 6 the categories in order of use.
    pub data: [DataColour; 7],
    /// One hue from low to high, lightness strictly monotone.
    pub sequential: [Rgb; 6],
    /// Opacity of interval bands, 0 to 1.
    pub band_opacity: f64,
}

const fn hex(rgb: u32) -> Rgb {
    let [_, r, g, b] = rgb.to_be_bytes();
    Rgb(r, g, b)
}

const fn data(mark: u32, ink: u32, on_fill: u32) -> DataColour {
    DataColour { mark: hex(mark), ink: hex(ink), on_fill: hex(on_fill) }
}

/// Dark text on light ground.
pub const LIGHT: Theme = Theme {
    bg: hex(0xf5f6f8),
    surface: hex(0xffffff),
    sunken: hex(0xeef0f4),
    raised: hex(0xffffff),
    line: hex(0xdfe3e9),
    control: hex(0x818a99),
    text: hex(0x14181f),
    text2: hex(0x454e5c),
    text3: hex(0x5f6978),
    accent: hex(0x1a56c4),
    accent_hover: hex(0x12429b),
    accent_soft: hex(0xe6eefb),
    on_accent: hex(0xffffff),
    focus: hex(0x1a56c4),
    grid: hex(0xe8ebf0),
    axis: hex(0x9aa2af),
    ok: hex(0x0b6e4f),
    ok_soft: hex(0xe2f3ec),
    warn: hex(0x8a4b00),
    warn_soft: hex(0xfdf0dc),
    bad: hex(0xb3261e),
    bad_soft: hex(0xfce8e6),
    held: hex(0x57508a),
    held_soft: hex(0xedebf7),
    data: [
        data(0x667080, 0x5f6978, 0xffffff),
        data(0x1a56c4, 0x1a56c4, 0xffffff),
        data(0xd9630d, 0xad4a00, 0x0e1116),
        data(0x0c8f84, 0x08726a, 0x0e1116),
        data(0x7a0f52, 0x7a0f52, 0xffffff),
        data(0x6f5c00, 0x6f5c00, 0xffffff),
        data(0x9a66ee, 0x7440cf, 0x0e1116),
    ],
    sequential: [
        hex(0xe3edf9),
        hex(0xb9d0f0),
        hex(0x86aee5),
        hex(0x4f87d6),
        hex(0x1a56c4),
        hex(0x123a86),
    ],
    band_opacity: 0.18,
};

/// Light text on dark ground.
pub const DARK: Theme = Theme {
    bg: hex(0x0e1116),
    surface: hex(0x171c24),
    sunken: hex(0x10141a),
    raised: hex(0x1f2630),
    line: hex(0x2b333f),
    control: hex(0x76808f),
    text: hex(0xeef1f5),
    text2: hex(0xb9c1cd),
    text3: hex(0x949eac),
    accent: hex(0x6ba5ff),
    accent_hover: hex(0x94beff),
    accent_soft: hex(0x1a2c48),
    on_accent: hex(0x0b1420),
    focus: hex(0x8ab8ff),
    grid: hex(0x232b36),
    axis: hex(0x5d6775),
    ok: hex(0x4fd1a1),
    ok_soft: hex(0x12312a),
    warn: hex(0xf5b556),
    warn_soft: hex(0x3a2a10),
    bad: hex(0xff8a80),
    bad_soft: hex(0x401c1c),
    held: hex(0xb5abf5),
    held_soft: hex(0x2a2646),
    data: [
        data(0x949eac, 0x949eac, 0x0e1116),
        data(0x3a86f7, 0x6ba5ff, 0x0e1116),
        data(0xffb074, 0xffb074, 0x0e1116),
        data(0x5fe3d3, 0x5fe3d3, 0x0e1116),
        data(0xe0559f, 0xf07fb8, 0x0e1116),
        data(0xa8961f, 0xc9b64a, 0x0e1116),
        data(0xbfa3ff, 0xbfa3ff, 0x0e1116),
    ],
    sequential: [
        hex(0x1c2a3f),
        hex(0x21446f),
        hex(0x2a62a4),
        hex(0x3a86f7),
        hex(0x85b4fb),
        hex(0xd3e4fe),
    ],
    band_opacity: 0.25,
};

impl Theme {
    /// Name and colour of every token, as the style sheet has them without the leading `--`.
    #[must_use]
    pub fn tokens(&self) -> Vec<(String, Rgb)> {
        let named = [
            ("bg", self.bg),
            ("surface", self.surface),
            ("sunken", self.sunken),
            ("raised", self.raised),
            ("line", self.line),
            ("control", self.control),
            ("text", self.text),
            ("text2", self.text2),
            ("text3", self.text3),
            ("accent", self.accent),
            ("accent-hover", self.accent_hover),
            ("accent-soft", self.accent_soft),
            ("on-accent", self.on_accent),
            ("focus", self.focus),
            ("grid", self.grid),
            ("axis", self.axis),
            ("ok", self.ok),
            ("ok-soft", self.ok_soft),
            ("warn", self.warn),
            ("warn-soft", self.warn_soft),
            ("bad", self.bad),
            ("bad-soft", self.bad_soft),
            ("held", self.held),
            ("held-soft", self.held_soft),
        ];
        let mut tokens: Vec<_> = named.map(|(name, rgb)| (name.to_owned(), rgb)).into();
        for (i, colour) in self.data.iter().enumerate() {
            tokens.push((format!("c{i}"), colour.mark));
            tokens.push((format!("c{i}-ink"), colour.ink));
            tokens.push((format!("c{i}-on"), colour.on_fill));
        }
        for (i, rgb) in self.sequential.iter().enumerate() {
            tokens.push((format!("seq{}", i + 1), *rgb));
        }
        tokens
    }
}

impl std::fmt::Display for Rgb {
    /// `#rrggbb`, as in a style sheet.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}
