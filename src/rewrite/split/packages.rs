//! Which of the packages that the user's instructions install stay.

use super::effects::{Asked, Effects};
use super::world::World;

/// A package that an instruction installs.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) asked: Asked,
    /// In the inventory; `None` when no package has that name: a name that several packages provide, or one
    /// that was removed again.
    pub(super) place: Option<usize>,
}

/// Those that are not only for building, in the order of the file.
pub(super) fn wanted(world: &World<'_>, effects: &Effects) -> Vec<Wanted> {
    let with_place = effects
        .packages
        .iter()
        .map(|asked| Wanted { place: world.by_name.get(asked.name.as_str()).copied(), asked: asked.clone() });
    with_place.filter(|wanted| is_kept(world, wanted)).collect()
}

fn is_kept(world: &World<'_>, wanted: &Wanted) -> bool {
    let Some(place) = wanted.place else {
        // Removed again, or a name for others: what is needed of it is found by its files.
        return false;
    };
    if world.is_built_for(place) {
        return true;
    }
    let package = &world.input.inventory.packages[place];
    if world.input.catalog.is_devel_package(package.manager, &package.name).is_some() {
        return false;
    }
    let (built, all) = world.share(place, &world.built);
    built == 0 || built * 2 < all
}
