//! One element.

use std::borrow::Cow;

use leptos::{
    ev::EventDescriptor,
    prelude::{IsDisposed, StoredValue, document},
};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{CssStyleDeclaration, Element, Event, HtmlElement, Node, SvgElement};

use super::{Hear, Nodes, Tell, follow};

const SVG_NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// An element, and the means to furnish it. Cloning it gives another handle to the same one.
#[derive(Clone, Debug)]
pub(crate) struct El(Element);

/// An HTML element.
pub(crate) fn el(tag: &'static str) -> El {
    El(created(document().create_element(tag)))
}

/// An SVG element.
pub(crate) fn svg(tag: &'static str) -> El {
    El(created(document().create_element_ns(Some(SVG_NAMESPACE), tag)))
}

/// Only a name that is no name is refused; ours are written in the source.
fn created(made: Result<Element, JsValue>) -> Element {
    made.unwrap_or_else(|refusal| wasm_bindgen::throw_val(refusal))
}

/// Something that is read anew whenever what it is made from has changed.
type Told<T> = Box<dyn Tell<T>>;

fn told<T>(tell: impl Fn() -> T + 'static) -> Told<T> {
    Box::new(tell)
}

impl El {
    /// The element itself, as the type that its tag has.
    pub(crate) fn node<T: JsCast>(&self) -> &T {
        self.0.unchecked_ref()
    }

    // ---- attributes ---------------------------------------------------------------------------

    /// An attribute that stays.
    pub(crate) fn attr(self, name: &'static str, value: &str) -> Self {
        set_attribute(&self.0, name, Some(value));
        self
    }

    /// An attribute that follows.
    pub(crate) fn attr_of<S>(self, name: &'static str, tell: impl Fn() -> S + 'static) -> Self
    where
        S: Into<Cow<'static, str>>,
    {
        self.attribute(name, told(move || Some(tell().into())))
    }

    /// An attribute that comes and goes.
    pub(crate) fn attr_maybe<S>(
        self,
        name: &'static str,
        tell: impl Fn() -> Option<S> + 'static,
    ) -> Self
    where
        S: Into<Cow<'static, str>>,
    {
        self.attribute(name, told(move || tell().map(Into::into)))
    }

    /// `true` or `false` in words, as `aria-expanded` and its kind want it.
    pub(crate) fn truth_of(self, name: &'static str, tell: impl Fn() -> bool + 'static) -> Self {
        self.attribute(
            name,
            told(move || Some(Cow::Borrowed(if tell() { "true" } else { "false" }))),
        )
    }

    /// An attribute that is there or not, like `hidden`.
    pub(crate) fn flag_of(self, name: &'static str, tell: impl Fn() -> bool + 'static) -> Self {
        self.attribute(name, told(move || tell().then_some(Cow::Borrowed(""))))
    }

    #[inline(never)]
    fn attribute(self, name: &'static str, tell: Told<Option<Cow<'static, str>>>) -> Self {
        let element = self.0.clone();
        let mut last = None;
        follow(Box::new(move || {
            let now = tell.tell();
            if last.as_ref() != Some(&now) {
                set_attribute(&element, name, now.as_deref());
                last = Some(now);
            }
        }));
        self
    }

    // ---- classes, styles, properties ----------------------------------------------------------

    /// Class names that stay.
    pub(crate) fn class(self, names: &str) -> Self {
        self.attr("class", names)
    }

    /// A class that comes and goes.
    pub(crate) fn class_of(self, name: &'static str, tell: impl Fn() -> bool + 'static) -> Self {
        self.class_told(name, told(tell))
    }

    #[inline(never)]
    fn class_told(self, name: &'static str, tell: Told<bool>) -> Self {
        let classes = self.0.class_list();
        let mut last = false;
        follow(Box::new(move || {
            let now = tell.tell();
            if now != last {
                // Only an empty name, or one with a space, is refused.
                let _ = if now { classes.add_1(name) } else { classes.remove_1(name) };
                last = now;
            }
        }));
        self
    }

    /// A style or custom property that stays.
    pub(crate) fn style(self, name: &'static str, value: &str) -> Self {
        set_style(&self.0, name, value);
        self
    }

    /// A style or custom property that follows.
    pub(crate) fn style_of(self, name: &'static str, tell: impl Fn() -> String + 'static) -> Self {
        self.style_told(name, told(tell))
    }

    #[inline(never)]
    fn style_told(self, name: &'static str, tell: Told<String>) -> Self {
        let element = self.0.clone();
        let mut last = String::new();
        follow(Box::new(move || {
            let now = tell.tell();
            if now != last {
                set_style(&element, name, &now);
                last = now;
            }
        }));
        self
    }

    /// A property that follows: what a person did to the element does not hold it back, as it
    /// would an attribute.
    pub(crate) fn property_of<V>(self, name: &'static str, tell: impl Fn() -> V + 'static) -> Self
    where
        V: Into<JsValue>,
    {
        self.property(name, told(move || tell().into()))
    }

    #[inline(never)]
    fn property(self, name: &'static str, tell: Told<JsValue>) -> Self {
        let element = self.0.clone();
        follow(Box::new(move || {
            // Elements are not sealed.
            let _ = js_sys::Reflect::set(&element, &JsValue::from_str(name), &tell.tell());
        }));
        self
    }

    // ---- events -------------------------------------------------------------------------------

    /// Hears an event, for as long as the region lives that the element was built in: one that is
    /// sent while the element is being removed, as `focusout` is, finds nobody.
    #[expect(clippy::needless_pass_by_value, reason = "an event's type stands for itself")]
    pub(crate) fn on<E>(self, event: E, mut hear: impl FnMut(E::EventType) + 'static) -> Self
    where
        E: EventDescriptor,
        E::EventType: JsCast,
    {
        self.listen(&event.name(), Box::new(move |event: Event| hear(event.unchecked_into())))
    }

    #[inline(never)]
    fn listen(self, name: &str, mut hear: Box<dyn Hear>) -> Self {
        let region = StoredValue::new(());
        let heard = Closure::<dyn FnMut(Event)>::new(move |event| {
            if !region.is_disposed() {
                hear.hear(event);
            }
        });
        // The browser frees it together with the element.
        let heard = heard.into_js_value();
        // Adding a listener refuses nothing.
        let _ = self.0.add_event_listener_with_callback(name, heard.unchecked_ref());
        self
    }

    // ---- what is inside -----------------------------------------------------------------------

    /// A text that stays.
    pub(crate) fn text(self, text: &str) -> Self {
        self.append(&document().create_text_node(text))
    }

    /// A text that follows.
    pub(crate) fn text_of<S>(self, tell: impl Fn() -> S + 'static) -> Self
    where
        S: Into<Cow<'static, str>>,
    {
        self.text_told(told(move || tell().into()))
    }

    #[inline(never)]
    fn text_told(self, tell: Told<Cow<'static, str>>) -> Self {
        let text = document().create_text_node("");
        let this = self.append(&text);
        let mut last = Cow::Borrowed("");
        follow(Box::new(move || {
            let now = tell.tell();
            if now != last {
                text.set_data(&now);
                last = now;
            }
        }));
        this
    }

    /// Elements that stay: one, several, or perhaps one.
    pub(crate) fn child(self, nodes: impl Into<Nodes>) -> Self {
        nodes.into().append_to(&self.0);
        self
    }

    /// A region that is built anew whenever what it is made from has changed. Read a memo in it
    /// that changes only when the region has to.
    pub(crate) fn region<N>(self, tell: impl Fn() -> N + 'static) -> Self
    where
        N: Into<Nodes>,
    {
        super::region::follow_region(&self.0, told(move || tell().into()));
        self
    }

    /// A region that is there or not. It is built anew only when that changes.
    pub(crate) fn when<N>(
        self,
        is_there: impl Fn() -> bool + Send + Sync + 'static,
        build: impl Fn() -> N + 'static,
    ) -> Self
    where
        N: Into<Nodes>,
    {
        let is_there = crate::memo::memo(move |_| is_there());
        self.region(move || {
            if leptos::prelude::Get::get(&is_there) { build().into() } else { Nodes::default() }
        })
    }

    /// One element for each key. A key that stays keeps its element; new ones come last.
    pub(crate) fn list(
        self,
        keys: impl Fn() -> Vec<u32> + 'static,
        build: impl Fn(u32) -> Self + 'static,
    ) -> Self {
        super::list::follow_list(&self.0, Box::new(keys), Box::new(build));
        self
    }

    fn append(self, node: &Node) -> Self {
        // An element takes whatever is not its own ancestor.
        let _ = self.0.append_child(node);
        self
    }
}

impl From<El> for Node {
    fn from(element: El) -> Self {
        element.0.into()
    }
}

fn set_attribute(element: &Element, name: &str, value: Option<&str>) {
    // Only a name that is no name is refused; ours are written in the source.
    let _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}

fn set_style(element: &Element, name: &str, value: &str) {
    let style: Option<CssStyleDeclaration> = match element.dyn_ref::<HtmlElement>() {
        Some(element) => Some(element.style()),
        None => element.dyn_ref::<SvgElement>().map(SvgElement::style),
    };
    if let Some(style) = style {
        // A value that is no value changes nothing.
        let _ = style.set_property(name, value);
    }
}
