//! arc-swap: a shared pointer to a counted object, which readers do not count.

use crate::node::Node;
use crate::scheme::Scheme;
use ::arc_swap::ArcSwapAny;
use std::sync::Arc;

pub struct Chosen;

/// Two indirections, like the others' pointer to a box: the count stands next to the object.
type Shared = ArcSwapAny<Arc<Node>>;

impl Scheme for Chosen {
    type Shared = Shared;
    type Local = ();

    fn share(first: Box<Node>) -> Shared {
        ArcSwapAny::new(Arc::from(first))
    }

    fn register(_: &'static Shared) {}

    #[inline(always)]
    fn pin(shared: &'static Shared, (): &mut ()) -> u64 {
        shared.load().read()
    }

    #[inline(always)]
    fn retire(shared: &'static Shared, (): &mut (), next: Box<Node>) -> u64 {
        shared.swap(Arc::from(next)).read()
    }
}
